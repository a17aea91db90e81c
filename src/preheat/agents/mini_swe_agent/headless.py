"""How mini-swe-agent is started without a terminal: `mini --yolo`. It asks nobody and runs whatever the model asks for."""

from collections.abc import Mapping

from preheat.agents.headless import model_option
from preheat.model.headless import Endpoint, HeadlessProgram, HeadlessRequest, HeadlessSetup


def arguments(request: HeadlessRequest) -> list[str]:
    """The options. With `--config` the program no longer loads its default configuration, so `mini.yaml` is named first."""
    record = ["--output", request.record] if request.record else []
    turns = ["--config", f"agent.step_limit={request.turns}"] if request.turns else []
    fixed_options = ["--yolo", "--exit-immediately", *record, *model_option(request), "--config", "mini.yaml", *turns]
    return [*fixed_options, *request.options, f"--task={request.prompt}"]


def settle(endpoint: Endpoint, home: str, environment: Mapping[str, str]) -> HeadlessSetup:
    """Settings for an endpoint. The program's client takes the key from `OPENAI_API_KEY` only, and fetches no price list."""
    settings = (f"model.model_kwargs.api_base={endpoint.url}", "model.cost_tracking=ignore_errors")
    return HeadlessSetup(
        environment={
            "MSWEA_CONFIGURED": "true",
            "MSWEA_GLOBAL_CONFIG_DIR": f"{home}/.config/mini-swe-agent",
            "OPENAI_API_KEY": environment.get(endpoint.key, "") or "none",
            "LITELLM_LOCAL_MODEL_COST_MAP": "true",
        },
        options=tuple(part for setting in settings for part in ("--config", setting)),
        model=f"openai/{endpoint.model}",
    )


HEADLESS = HeadlessProgram(
    "mini", arguments, tested_version="2.4.6", set_up=settle, record_suffix=".traj.json", out_of_turns="LimitsExceeded"
)
