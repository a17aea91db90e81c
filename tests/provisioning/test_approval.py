"""A text that a person approved is handed on as it stands, and no other text is."""

from pathlib import Path

from preheat.app import Preheat
from preheat.app.learning import learn
from preheat.model.lesson import Approval, text_digest
from tests.ingest.machine import Machine
from tests.ingest.test_learning import worked


def test_a_correction_is_handed_on_once_a_person_approved_that_very_text(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    for number in range(1, 4):
        worked(number).prompt("never open pull requests against the release branch").answer("I see.").write(
            machine.projects
        )
    machine.sync()
    learn(machine.folder)
    home = Preheat(machine.folder)
    said = next(each for each in home.lessons() if each.topic == "correction")
    assert "never open pull requests" in said.text

    def handed() -> str:
        return home.render(home.provision("open a pull request", project=said.scope.project, record=False)).text

    assert "pull requests" not in handed()
    home.knowledge.approve(Approval(said.id, text_digest("another text")))
    assert "pull requests" not in handed()
    home.knowledge.approve(Approval(said.id, text_digest(said.text)))
    assert "never open pull requests" in handed()
    assert home.knowledge.withdraw_approval(said.id)
    assert "pull requests" not in handed()
