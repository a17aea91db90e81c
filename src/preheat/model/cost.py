"""What sessions cost, in tokens and money. Frozen values.

Knows neither prices nor the archive.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.session import Usage

CostGrouping: TypeAlias = Literal["day", "project", "model", "agent", "session"]
COST_GROUPINGS: tuple[CostGrouping, ...] = ("day", "project", "model", "agent", "session")


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What one group of responses cost. Each response counts once, also where several sessions hold a copy of it."""

    name: str
    """The day, project, model, agent or key of the session."""
    sessions: int
    responses: int
    usage: Usage
    money: float
    """US dollars at list prices, of the responses whose model has a price."""
    failed_money: float
    """The part of `money` that failed calls account for: each call has an equal share of the response that made it."""
    repeated_money: float = 0.0
    """The same for calls that worked and had been made before in the session, with the same arguments."""
    seconds: float = 0.0
    """Time in which the agents worked: from response to response, without pauses of over five minutes."""
    unpriced: int = 0
    """Tokens of responses whose model has no known price; they are not in `money`."""


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """What sessions cost, by one grouping: the newest day first, otherwise the dearest first."""

    by: CostGrouping
    costs: tuple[Cost, ...]
    total: Cost
    price_list: str
    """The list that the prices are of, with its version."""
    unpriced_models: tuple[str, ...]
    """Models without a known price, the one with most tokens first."""
