// A conversation by OpenAI's client for Node: `node conversation.mjs URL FIRST SECOND` prints what came back.
import OpenAI from "openai";

const [url, first, second] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" });
const messages = [{ role: "user", content: first }];
const opening = await client.chat.completions.create({ model: "advisor", messages });
messages.push(opening.choices[0].message, { role: "user", content: second });

let streamed = "";
let advisor = null;
for await (const chunk of await client.chat.completions.create({ model: "advisor", messages, stream: true })) {
  streamed += chunk.choices[0]?.delta?.content ?? "";
  advisor = chunk.advisor ?? advisor;
}
const whole = (await client.chat.completions.create({ model: "advisor", messages })).choices[0].message.content;
const code = await client.models.retrieve("gpt-9").catch((error) => error.code);
console.log(JSON.stringify({ streamed, whole, advisor, code }));
