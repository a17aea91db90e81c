"""How mini-swe-agent is started without a terminal: `mini --yolo`. It asks nobody and runs whatever the model asks for."""

from collections.abc import Mapping

from preheat.agents.headless import with_model
from preheat.model.headless import Asked, Endpoint, Headless, Settled


def arguments(request: Asked) -> list[str]:
    """The options. With `--config` the program no longer loads its default configuration, so `mini.yaml` is named first."""
    record = ["--output", request.record] if request.record else []
    turns = ["--config", f"agent.step_limit={request.turns}"] if request.turns else []
    fixed_options = ["--yolo", "--exit-immediately", *record, *with_model(request), "--config", "mini.yaml", *turns]
    return [*fixed_options, *request.options, f"--task={request.prompt}"]


def settle(endpoint: Endpoint, home: str, environment: Mapping[str, str]) -> Settled:
    """Settings for an endpoint. The program's client takes the key from `OPENAI_API_KEY` only, and fetches no price list."""
    settings = (f"model.model_kwargs.api_base={endpoint.url}", "model.cost_tracking=ignore_errors")
    return Settled(
        environment={
            "MSWEA_CONFIGURED": "true",
            "MSWEA_GLOBAL_CONFIG_DIR": f"{home}/.config/mini-swe-agent",
            "OPENAI_API_KEY": environment.get(endpoint.key, "") or "none",
            "LITELLM_LOCAL_MODEL_COST_MAP": "true",
        },
        options=tuple(part for setting in settings for part in ("--config", setting)),
        model=f"openai/{endpoint.model}",
    )


HEADLESS = Headless(
    "mini", arguments, tried="2.4.6", settle=settle, recorded=".traj.json", out_of_turns="LimitsExceeded"
)
