"""The calculators' formulas in Chinese: clause by clause, so that each formula is written once."""

from __future__ import annotations

from assistant.schema import Language

_ZH = {
    "checkpoint = parameters x bytes a parameter": "检查点 = 参数 × 每参数字节",
    "all = checkpoints x size": "合计 = 个数 × 单个大小",
    "write time = size / write speed": "写入时间 = 大小 ÷ 写速度",
    "lost = write time / interval": "损失 = 写入时间 ÷ 间隔",
    "monthly cost = GB x copies x price a GB and month": "月费 = GB × 份数 × 每 GB 每月单价",
    "throughput = GPUs x bytes a second and GPU": "吞吐 = 卡数 × 每卡每秒字节",
    "days = volume x 8 / (bandwidth x usable share) / 86,400": "天数 = 数据量 × 8 ÷ (带宽 × 利用率) ÷ 86,400",
    "bandwidth = volume x 8 / (days x 86,400 x usable share)": "带宽 = 数据量 × 8 ÷ (天数 × 86,400 × 利用率)",
    "volume = bandwidth x usable share x days x 86,400 / 8": "数据量 = 带宽 × 利用率 × 天数 × 86,400 ÷ 8",
    "devices: volume / count / copy speed + road + volume / count / import speed": (
        "设备：数据量 ÷ 台数 ÷ 拷贝速度 + 路上 + 数据量 ÷ 台数 ÷ 导入速度"
    ),
    "devices = volume / capacity, rounded up": "台数 = 数据量 ÷ 单台容量，向上取整",
    "interval = sqrt(2 x write time x mean time between failures)": "间隔 = √(2 × 写入时间 × 平均中断间隔)",
    "lost = write / interval + (interval / 2 + restart) / mean time between failures": (
        "损失 = 写入 ÷ 间隔 + (间隔 ÷ 2 + 重启) ÷ 平均中断间隔"
    ),
    "break-even utilisation = committed price / on-demand price": "盈亏平衡使用率 = 预留价 ÷ 按需价",
    "spot a useful hour = spot price x (1 + lost)": "抢占式每有效小时 = 抢占价 × (1 + 损失)",
    "days left = (budget - spent) / burn a day": "还能撑的天数 = (预算 − 已花) ÷ 每天花费",
    "projection = spent + burn a day x days left in the period": "期末 = 已花 + 每天花费 × 剩余天数",
    "allowed a day = (budget - spent) / days left": "每天可花 = (预算 − 已花) ÷ 剩余天数",
    "alert amount = share x budget": "告警金额 = 比例 × 预算",
    "projected share = share spent / share of the time passed": "期末占比 = 已花占比 ÷ 时间进度",
    "own a year = (purchase - resale) / years + maintenance + electricity x PUE + staff + colocation": (
        "自建每年 = (购置 − 残值) ÷ 年数 + 维保 + 电费 × PUE + 人力 + 托管"
    ),
    "a GPU-hour = own a year / (GPUs x used hours)": "每卡时 = 自建每年 ÷ (卡数 × 使用小时)",
    "rent a year = used hours x price": "上云每年 = 使用小时 × 单价",
    "break-even utilisation = own a year / (8,760 x price)": "盈亏平衡利用率 = 自建每年 ÷ (8,760 × 单价)",
    "energy = GPU-hours x watts x PUE / 1,000": "电量 = 卡时 × 功率 × PUE ÷ 1,000",
    "carbon = energy x grams a kWh": "碳排放 = 电量 × 每度电排放",
    "carbon = energy x grams a kWh of the region's grid": "碳排放 = 电量 × 该区域电网每度电排放",
    "rate = bill / quantity": "单价 = 账单 ÷ 用量",
    "saved = bill - used anyway x rate": "省下 = 账单 − 超时前用量 × 单价",
    "bill = quantity x rate": "账单 = 用量 × 单价",
    "quantity = bill / rate": "用量 = 账单 ÷ 单价",
    "left = capacity - needed": "剩余 = 容量 − 需要",
    "1 GiB = 2^30 bytes, 1 GB = 10^9 bytes": "1 GiB = 2^30 字节，1 GB = 10^9 字节",
    "difference = after - before": "差额 = 现在 − 原来",
    "change = difference / before": "变化 = 差额 ÷ 原来",
    "part = whole x share": "部分 = 总数 × 占比",
    "share = part / whole": "占比 = 部分 ÷ 总数",
    "price = whole x (1 - discount)": "优惠后 = 原价 × (1 − 折扣)",
    "conversion of units": "单位换算",
    "sum of the amounts": "各项之和",
}


def in_language(formula: str, language: Language) -> str:
    """The formula for a reader; a clause without Chinese words (an expression that was stated) stays as it is."""
    if language == "en":
        return formula
    return "；".join(_ZH.get(clause, clause) for clause in formula.split("; "))
