"""The widget's side of the API: pages of other origins ask here, with short-lived tokens that their back end fetched.

A host's back end exchanges its API key (while access is on) or `ADVISOR_WIDGET_SECRET` for a token that holds for one
visitor, one origin and a quarter of an hour (`tokens`). The visitor's browser sends the token with every request, from
an origin that `ADVISOR_WIDGET_ORIGINS` names (`origins`); how much it may ask is counted by what is signed in the token
and by its address, never by anything that it can choose (`limits`).
"""
