"""What models cost: providers' public prices with their dates, and the prices users add."""

from langgraph_interleave.prices.price import LongRates, Price, Rates
from langgraph_interleave.prices.table import ENVIRONMENT, Costs, Prices

__all__ = ["ENVIRONMENT", "Costs", "LongRates", "Price", "Prices", "Rates"]
