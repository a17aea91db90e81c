"""Version control: work and history that nobody gets back, and checks that are left out."""

from preheat.live.safety.rule import Rule

_MAIN = r"(?:main|master|trunk|develop|production|prod|release(?:[/-][\w.-]+)?|stable)"

VERSIONS = (
    Rule(
        id="push-force-main", severity="critical", effect="Replaces the shared history of a main branch.",
        programs="git",
        arguments=rf"push\b.* (?:\+?(?:[\w./-]+:)?(?:refs/heads/)?{_MAIN})$",
        words=r" (?:--force|-\w*f\w*)(?: |$)| \+",
        without="--force-with-lease --dry-run -n",
        example="git push --force origin main", counterexample="git push --force-with-lease origin main",
    ),
    Rule(
        id="push-force", severity="medium", effect="Replaces the history of a shared branch without a look at what is there.",
        programs="git",
        arguments="push",
        flags=("-f --force",),
        without="--force-with-lease --dry-run -n",
        unless=rf" \+?(?:\S+:)?{_MAIN}$",
        example="git push -f origin feature", counterexample="git push origin feature",
    ),
    Rule(
        id="push-delete", severity="medium", effect="Deletes branches or tags of the shared repository.",
        programs="git", arguments="push", words=r" (?:--delete|-d|--mirror|--prune)(?: |$)| :[\w./-]+(?: |$)", without="--dry-run -n",
        example="git push origin --delete feature", counterexample="git push origin feature:feature",
    ),
    Rule(
        id="reset-hard", severity="medium", severity_when_unsaved="high", effect="Throws away every change that is not committed.",
        programs="git", arguments="reset", flags=("--hard",),
        example="git reset --hard HEAD~1", counterexample="git reset --soft HEAD~1",
    ),
    Rule(
        id="discard-all", severity="medium", severity_when_unsaved="high", effect="Throws away the changes of every file that is not committed.",
        programs="git",
        arguments=r"(?:checkout|restore)(?: HEAD)? (?:\.|\./|:/|\*)(?: |$)",
        unless=r" --staged\b(?!.*--worktree)| -S\b",
        example="git checkout -- .", counterexample="git restore --staged .",
    ),
    Rule(
        id="clean-ignored", severity="high", effect="Removes ignored files too: local settings, data, environments.",
        programs="git", arguments="clean", flags=("-f --force", "-x -X"), without="-n --dry-run",
        example="git clean -fdx", counterexample="git clean -ndx",
    ),
    Rule(
        id="clean", severity="medium", effect="Removes files that no commit has.",
        programs="git", arguments="clean", flags=("-f --force",), without="-n --dry-run -x -X",
        example="git clean -fd", counterexample="git clean -n",
    ),
    Rule(
        id="stash-drop", severity="medium", effect="Throws away work that was put aside.",
        programs="git", arguments=r"stash (?:drop|clear)",
        example="git stash clear", counterexample="git stash pop",
    ),
    Rule(
        id="branch-force-delete", severity="medium", effect="Deletes a branch whose commits may be nowhere else.",
        programs="git",
        arguments="branch",
        words=r" -D(?: |$)| -\w*D| (?:--delete|-d) .*(?:--force|-f)(?: |$)| (?:--force|-f) .*(?:--delete|-d)(?: |$)",
        example="git branch -D feature", counterexample="git branch -d feature",
    ),
    Rule(
        id="worktree-force-remove", severity="medium", effect="Removes a worktree with the changes in it.",
        programs="git", arguments="worktree remove", flags=("-f --force",),
        example="git worktree remove --force ../fix", counterexample="git worktree remove ../fix",
    ),
    Rule(
        id="history-rewrite", severity="high", effect="Rewrites the whole history.",
        programs="git git-filter-repo bfg java",
        words=r"^git (?:-\S+ (?:\S+ )?)*filter-(?:branch|repo)\b|^git-filter-repo\b|\bbfg(?:-[\d.]+)?(?:\.jar)?\b.* --\w",
        example="git filter-branch --tree-filter 'rm -f keys' HEAD", counterexample="git log --all",
    ),
    Rule(
        id="history-purge", severity="high", effect="Removes the commits that nothing points to: the last way back.",
        programs="git",
        arguments=r"(?:reflog (?:expire|delete)|gc\b|prune\b)",
        words=r"reflog (?:delete|expire .*(?:=now|=all|--all))|--prune=(?:now|all)|^git prune(?: |$)",
        without="-n --dry-run",
        example="git reflog expire --expire=now --all", counterexample="git gc",
    ),
    Rule(
        id="ref-delete", severity="medium", effect="Deletes a reference by hand.",
        programs="git", arguments="update-ref", flags=("-d --delete",),
        example="git update-ref -d refs/heads/feature", counterexample="git update-ref refs/heads/feature HEAD",
    ),
    Rule(
        id="checks-skipped", severity="medium", effect="Commits or pushes without the project's own checks.",
        programs="git",
        arguments=r"(?:commit|push|merge|am|rebase|cherry-pick)",
        words=r" --no-verify\b|^git (?:-\S+ )*commit\b(?:(?! -(?:m|F|-message|-file)).)* -[a-ln-z]*n",
        example="git commit --no-verify -m wip", counterexample="git commit -m wip",
    ),
    Rule(
        id="hooks-off", severity="medium", effect="Switches the project's own checks off.",
        shell_text=r"(?:^|[\s;&(])(?:HUSKY=0|HUSKY_SKIP_HOOKS=1|LEFTHOOK=0|SKIP=\S+\s+git|PRE_COMMIT_ALLOW_NO_CONFIG=1)"
               r"|core\.hooksPath[= ]/dev/null",
        signs="HUSKY LEFTHOOK SKIP= PRE_COMMIT hooksPath",
        example="HUSKY=0 git commit -m wip", counterexample="git config core.hooksPath .githooks",
    ),
    Rule(
        id="git-identity", severity="medium", effect="Changes who commits, or what Git does, for every project of the person.",
        programs="git",
        arguments=r"config \S+ \S+",
        flags=("--global --system",),
        unless=r" (?:--get|--list|-l)\b|safe\.directory|init\.defaultBranch|advice\.",
        example="git config --global user.email somebody@example.org", counterexample="git config --global --get user.email",
    ),
    Rule(
        id="repository-delete", severity="critical", effect="Deletes a repository for everybody.",
        programs="gh glab", arguments=r"repo delete|project delete|repo archive",
        example="gh repo delete owner/name --yes", counterexample="gh repo view owner/name",
    ),
    Rule(
        id="repository-public", severity="high", effect="Shows a repository to the whole world.",
        programs="gh glab", arguments=r"repo (?:edit|create)", words=r"--visibility[= ]public|repo create.* --public",
        example="gh repo edit --visibility public", counterexample="gh repo edit --description text",
    ),
    Rule(
        id="merge-past-checks", severity="high", effect="Merges past reviews and checks that the repository asks for.",
        programs="gh glab", arguments=r"(?:pr|mr) merge", flags=("--admin",),
        example="gh pr merge 7 --admin", counterexample="gh pr merge 7 --squash",
    ),
    Rule(
        id="remote-delete",
        severity="medium",
        effect="Deletes something that others see: a release, a run, an issue, by the host's interface.",
        programs="gh glab",
        words=r"^(?:gh|glab) (?:release|run|issue|secret|variable|label|gist|cache) delete\b|^gh api\b.* (?:-X"
              r"|--method)[ =]?DELETE\b",
        example="gh release delete v1.0", counterexample="gh release view v1.0",
    ),
)  # fmt: skip
