"""Twenty questions about a company of the tests' own, which no other document answers, each with its answer."""

from __future__ import annotations

QUESTIONS: tuple[tuple[str, str], ...] = (
    (
        "Who approves the maintenance window of the Lindenbaum cluster?",
        "The maintenance window of the Lindenbaum cluster is approved by the platform board on the first Monday.",
    ),
    (
        "Which cost centre pays for GPU hours of the Falke team?",
        "GPU hours of the Falke team are paid by cost centre 4711, which the finance desk checks every quarter.",
    ),
    (
        "How many days does the Ammersee archive keep old checkpoints?",
        "The Ammersee archive keeps old checkpoints for 45 days and then moves them to cold storage.",
    ),
    (
        "Where is the runbook for the Isar scheduler kept?",
        "The runbook for the Isar scheduler is kept in the operations wiki under the heading Isar.",
    ),
    (
        "Which badge opens the door of the Kranich server room?",
        "The door of the Kranich server room opens with the blue badge, which the front desk hands out.",
    ),
    (
        "When does the weekly quota meeting of the Sperber group take place?",
        "The weekly quota meeting of the Sperber group takes place on Wednesdays at 14:30.",
    ),
    (
        "What is the naming rule for buckets of the Reiher project?",
        "Buckets of the Reiher project are named rh, then the team and the year, such as rh-vision-2026.",
    ),
    (
        "How is an account for the Wendelstein cluster applied for?",
        "An account for the Wendelstein cluster is applied for with form W-12, signed by a group leader.",
    ),
    (
        "Which image do Jupyter notebooks on the Zugspitze cluster use?",
        "Jupyter notebooks on the Zugspitze cluster use the image zs-lab 8.2, which is rebuilt every Friday.",
    ),
    (
        "Which crew is on call for the Chiemsee data pipeline at weekends?",
        "At weekends the Delta crew is on call for the Chiemsee data pipeline, reachable by pager 17.",
    ),
    ("青松集群的维护窗口由谁审批？", "青松集群的维护窗口由平台委员会在每月第一个周一审批。"),
    ("海鸥团队的 GPU 费用记在哪个成本中心？", "海鸥团队的 GPU 费用记在成本中心 4712，由财务台每季度核对。"),
    ("明湖归档系统保留旧检查点多少天？", "明湖归档系统保留旧检查点 45 天，之后转入冷存储。"),
    ("长江调度器的操作手册放在哪里？", "长江调度器的操作手册放在运维维基的“长江”栏目下。"),
    ("白鹤机房的机架编号规则是什么？", "白鹤机房的机架编号规则是楼层加两位数字，例如 3-07。"),
    ("麻雀小组的配额例会在什么时候开？", "麻雀小组的配额例会在每周三 14:30 开。"),
    ("白鹭项目的存储桶怎么命名？", "白鹭项目的存储桶以 bl 开头，后接团队和年份，例如 bl-vision-2026。"),
    ("天山集群的排队上限是几个作业？", "天山集群的排队上限是每组 12 个作业，超出的作业会被退回。"),
    ("泰山集群的 Jupyter 用哪个镜像？", "泰山集群的 Jupyter 用 ts-lab 8.2 镜像，每周五重新构建。"),
    ("周末由谁值班看护洞庭数据管道？", "周末由丁组值班看护洞庭数据管道，呼叫 17 号寻呼机。"),
)
