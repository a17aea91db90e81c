"""Lessons that machines propose, and the reviews of them, which are only ever added to.

The digest is one of the lesson itself, and the database checks that: what was approved cannot be given another content. A review
has the digest only, so that a lesson that nobody proposes any more is gone for good."""

from alembic import op

from preheat.team_server.migrations.versions.r0001_people_and_rows import make_function, protect

revision = "0002"
down_revision = "0001"

CONTENT = """
    digest text NOT NULL CHECK (digest = encode(sha256(convert_to(repository || E'\\n' || content, 'UTF8')), 'hex')),
    repository text NOT NULL CHECK (length(repository) BETWEEN 1 AND 300),
    content text NOT NULL CHECK (octet_length(content) <= 8192)"""
ONLY_REVIEWERS = """
    IF coalesce(preheat_team.my_role(), '') NOT IN ('owner', 'reviewer') THEN
        RAISE EXCEPTION 'only a reviewer may do that' USING ERRCODE = 'insufficient_privilege';
    END IF;"""


def upgrade() -> None:
    op.execute(
        f"""CREATE TABLE preheat_team.lessons (
            member integer NOT NULL DEFAULT preheat_team.my_member() REFERENCES preheat_team.members (id),
            machine uuid NOT NULL,{CONTENT},
            calls_for integer NOT NULL CHECK (calls_for >= 0),
            sessions_for integer NOT NULL CHECK (sessions_for >= 0),
            calls_against integer NOT NULL CHECK (calls_against >= 0),
            sessions_against integer NOT NULL CHECK (sessions_against >= 0),
            first_day date,
            last_day date,
            pushed_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (member, machine, digest)
        )"""
    )
    op.execute("CREATE INDEX lessons_digest ON preheat_team.lessons (digest)")
    protect("lessons", "member = (SELECT preheat_team.my_member())")
    op.execute(
        """CREATE TABLE preheat_team.reviews (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            digest text NOT NULL CHECK (length(digest) = 64),
            repository text NOT NULL CHECK (length(repository) BETWEEN 1 AND 300),
            verdict text NOT NULL CHECK (verdict IN ('approved', 'declined')),
            why text NOT NULL CHECK (length(why) <= 300),
            reviewer integer NOT NULL REFERENCES preheat_team.members (id),
            at timestamptz NOT NULL DEFAULT now()
        )"""
    )
    op.execute("CREATE INDEX reviews_digest ON preheat_team.reviews (digest, number DESC)")
    protect("reviews")
    _keep_reviews()
    _make_reviewing()
    _make_reading()
    _leave_with_lessons()


def _keep_reviews() -> None:
    make_function(
        "refuse_change() RETURNS trigger",
        "BEGIN RAISE EXCEPTION 'reviews are only ever added to' USING ERRCODE = 'PH002'; END",
    )
    op.execute(
        "CREATE TRIGGER only_added_to BEFORE UPDATE OR DELETE OR TRUNCATE ON preheat_team.reviews "
        "FOR EACH STATEMENT EXECUTE FUNCTION preheat_team.refuse_change()"
    )


def _make_reviewing() -> None:
    make_function(
        "review_lesson(wanted text, given text, reason text) RETURNS void",
        f"""
        DECLARE me integer := preheat_team.my_member();
        BEGIN{ONLY_REVIEWERS}
            IF NOT EXISTS (SELECT 1 FROM preheat_team.lessons WHERE digest = wanted) THEN
                RAISE EXCEPTION 'no such lesson is proposed' USING ERRCODE = 'PH003';
            END IF;
            IF given = 'approved' AND NOT EXISTS (SELECT 1 FROM preheat_team.lessons WHERE digest = wanted AND member <> me) THEN
                RAISE EXCEPTION 'nobody approves a lesson of their own' USING ERRCODE = 'PH004';
            END IF;
            INSERT INTO preheat_team.reviews (digest, repository, verdict, why, reviewer)
                SELECT digest, repository, given, reason, me FROM preheat_team.lessons WHERE digest = wanted LIMIT 1;
        END""",
    )
    make_function(
        "list_reviews() RETURNS TABLE (digest text, repository text, content text, verdict text, why text, reviewer text, "
        "at timestamptz)",
        f"""
        #variable_conflict use_column
        BEGIN{ONLY_REVIEWERS}
            RETURN QUERY SELECT r.digest, r.repository,
                coalesce((SELECT l.content FROM preheat_team.lessons AS l WHERE l.digest = r.digest LIMIT 1), ''), r.verdict, r.why, m.name, r.at
                FROM preheat_team.reviews AS r JOIN preheat_team.members AS m ON m.id = r.reviewer ORDER BY r.number DESC;
        END""",
    )


def _make_reading() -> None:
    """A lesson is handed on while its last review approved it and somebody still proposes it. Nobody sees who proposed it."""
    make_function(
        "merge_lessons() RETURNS TABLE (digest text, repository text, content text, verdict text, people bigint, "
        "calls_for bigint, sessions_for bigint, calls_against bigint, sessions_against bigint, first_day date, last_day date, "
        "proposed_at timestamptz)",
        """
        SELECT l.digest, min(l.repository), min(l.content),
            coalesce((SELECT verdict FROM preheat_team.reviews AS r WHERE r.digest = l.digest ORDER BY number DESC LIMIT 1), ''),
            count(DISTINCT l.member), sum(l.calls_for), sum(l.sessions_for), sum(l.calls_against), sum(l.sessions_against),
            min(l.first_day), max(l.last_day), min(l.pushed_at)
        FROM preheat_team.lessons AS l GROUP BY l.digest""",
        "LANGUAGE sql STABLE",
    )
    columns = (
        "TABLE (digest text, repository text, content text, calls_for bigint, sessions_for bigint, calls_against bigint, "
        "sessions_against bigint, first_day date, last_day date, proposed_at timestamptz)"
    )
    chosen = (
        "SELECT digest, repository, content, calls_for, sessions_for, calls_against, sessions_against, first_day, last_day, "
        "proposed_at FROM preheat_team.merge_lessons()"
    )
    make_function(
        f"approved_lessons() RETURNS {columns}",
        f"{chosen} WHERE verdict = 'approved' AND preheat_team.my_member() IS NOT NULL ORDER BY repository, digest",
        "LANGUAGE sql STABLE",
    )
    make_function(
        f"waiting_lessons() RETURNS {columns}",
        f"#variable_conflict use_column\nBEGIN{ONLY_REVIEWERS} RETURN QUERY {chosen} "
        "WHERE verdict = '' ORDER BY proposed_at, digest; END",
    )
    make_function(
        "count_lessons() RETURNS TABLE (verdict text, lessons bigint)",
        "SELECT verdict, count(*) FROM preheat_team.merge_lessons() WHERE preheat_team.my_member() IS NOT NULL GROUP BY verdict",
        "LANGUAGE sql STABLE",
    )


def _leave_with_lessons() -> None:
    op.execute("ALTER FUNCTION preheat_team.end_membership(integer, boolean) RENAME TO end_pushing")
    make_function(
        "end_membership(who integer, keeping boolean) RETURNS void",
        """
        DECLARE somewhere uuid := gen_random_uuid();
        BEGIN
            IF keeping THEN
                UPDATE preheat_team.lessons SET member = 0, machine = somewhere WHERE member = who;
            ELSE
                DELETE FROM preheat_team.lessons WHERE member = who;
            END IF;
            PERFORM preheat_team.end_pushing(who, keeping);
        END""",
    )
