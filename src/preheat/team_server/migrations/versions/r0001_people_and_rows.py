"""People, and the rows that their machines push. Every table shows a person their own rows only; what is of several people comes
out of functions, which give nobody away."""

from alembic import op

revision = "0001"
down_revision = None

DEFINER = "SECURITY DEFINER SET search_path = pg_catalog, pg_temp"
"""How a function runs that sees the rows of all: as the keeper, a role that owns everything here and that nobody logs in as."""
IDENTITY = """
    member integer NOT NULL DEFAULT preheat_team.my_member() REFERENCES preheat_team.members (id),
    machine uuid NOT NULL,
    session text NOT NULL CHECK (length(session) <= 64)"""
OF_SESSION = """
    FOREIGN KEY (member, machine, session) REFERENCES preheat_team.sessions (member, machine, session)
        ON DELETE CASCADE ON UPDATE CASCADE"""


def protect(table: str, own: str = "") -> None:
    """Show a person their own rows of a table only, whoever they are; functions that run as the keeper see all."""
    keeper = op.get_bind().exec_driver_sql("SELECT quote_literal(current_user)").scalar()
    op.execute(f"ALTER TABLE preheat_team.{table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE preheat_team.{table} FORCE ROW LEVEL SECURITY")
    # By name: who is a member of the keeper's role, as the team's owner is, sees no more by that.
    op.execute(f"CREATE POLICY team_functions ON preheat_team.{table} USING (current_user = {keeper})")
    if own:
        op.execute(f"CREATE POLICY own_rows ON preheat_team.{table} USING ({own})")


def make_function(signature: str, body: str, how: str = "LANGUAGE plpgsql", traits: str = DEFINER) -> None:
    """Make a function that nobody may call until it is granted."""
    op.execute(f"CREATE FUNCTION preheat_team.{signature} {how} {traits} AS $${body}$$")
    name = signature.partition(" RETURNS")[0]
    arguments = ", ".join(each.split()[-1] for each in name.partition("(")[2].rstrip(")").split(",") if each.strip())
    op.execute(f"REVOKE ALL ON FUNCTION preheat_team.{name.partition('(')[0]}({arguments}) FROM PUBLIC")


def upgrade() -> None:
    _make_people()
    _make_rows()
    _make_leaving()
    _make_numbers()
    _make_transcripts()


def _make_people() -> None:
    op.execute(
        """CREATE TABLE preheat_team.team (
            only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
            name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
            least_people integer NOT NULL CHECK (least_people >= 2),
            made_at timestamptz NOT NULL DEFAULT now()
        )"""
    )
    op.execute(
        """CREATE TABLE preheat_team.members (
            id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            login text NOT NULL,
            name text NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
            role text NOT NULL CHECK (role IN ('owner', 'reviewer', 'member', 'reader')),
            made_login boolean NOT NULL,
            since timestamptz NOT NULL DEFAULT now(),
            left_at timestamptz
        )"""
    )
    op.execute("CREATE UNIQUE INDEX members_login ON preheat_team.members (login) WHERE left_at IS NULL")
    op.execute("CREATE UNIQUE INDEX members_name ON preheat_team.members (name) WHERE left_at IS NULL")
    op.execute(
        "INSERT INTO preheat_team.members (id, login, name, role, made_login, left_at) OVERRIDING SYSTEM VALUE "
        "VALUES (0, '', 'somebody who left', 'reader', false, now())"
    )
    protect("members", "login = session_user")
    protect("team")
    # A name of a login can be given again after somebody has left, so rows belong to a number. `session_user`: SET ROLE does not
    # change who somebody is.
    make_function(
        "my_member() RETURNS integer",
        "SELECT id FROM preheat_team.members WHERE login = session_user AND left_at IS NULL",
        "LANGUAGE sql STABLE",
    )
    make_function(
        "my_role() RETURNS text",
        "SELECT role FROM preheat_team.members WHERE login = session_user AND left_at IS NULL",
        "LANGUAGE sql STABLE",
    )
    make_function(
        "describe_team() RETURNS TABLE (team text, least_people integer, me text, my_role text, server_time timestamptz)",
        "SELECT team.name, team.least_people, members.name, members.role, now() FROM preheat_team.team, preheat_team.members "
        "WHERE login = session_user AND left_at IS NULL",
        "LANGUAGE sql STABLE",
    )


def _make_rows() -> None:
    op.execute(
        f"""CREATE TABLE preheat_team.sessions ({IDENTITY},
            digest text NOT NULL CHECK (length(digest) <= 64),
            origin text NOT NULL CHECK (length(origin) <= 64),
            level text NOT NULL CHECK (level IN ('derived', 'transcripts')),
            repository text NOT NULL CHECK (length(repository) <= 300),
            agent text NOT NULL CHECK (length(agent) <= 60),
            model text NOT NULL CHECK (length(model) <= 120),
            prompts integer NOT NULL,
            messages integer NOT NULL,
            calls integer NOT NULL,
            failed integer NOT NULL,
            mistakes integer NOT NULL,
            compactions integer NOT NULL,
            input_tokens bigint NOT NULL,
            output_tokens bigint NOT NULL,
            cache_read_tokens bigint NOT NULL,
            cache_write_tokens bigint NOT NULL,
            money double precision,
            failed_money double precision,
            work_seconds double precision NOT NULL,
            pushed_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (member, machine, session)
        )"""
    )
    op.execute("CREATE INDEX sessions_repository ON preheat_team.sessions (repository)")
    op.execute("CREATE INDEX sessions_session ON preheat_team.sessions (session)")
    op.execute(
        f"""CREATE TABLE preheat_team.outcomes ({IDENTITY},
            activity text NOT NULL CHECK (length(activity) <= 40),
            status text NOT NULL CHECK (length(status) <= 20),
            cause text NOT NULL CHECK (length(cause) <= 20),
            calls integer NOT NULL,
            lost_seconds double precision NOT NULL,
            lost_tokens bigint NOT NULL,
            PRIMARY KEY (member, machine, session, activity, status, cause),{OF_SESSION}
        )"""
    )
    op.execute(
        f"""CREATE TABLE preheat_team.episodes ({IDENTITY},
            number integer NOT NULL,
            files_read text[] NOT NULL,
            files_changed text[] NOT NULL,
            checks_passed integer NOT NULL,
            checks_failed integer NOT NULL,
            calls integer NOT NULL,
            seconds double precision,
            PRIMARY KEY (member, machine, session, number),{OF_SESSION}
        )"""
    )
    op.execute(
        f"""CREATE TABLE preheat_team.transcripts ({IDENTITY},
            content bytea NOT NULL,
            PRIMARY KEY (member, machine, session),{OF_SESSION}
        )"""
    )
    for table in ("sessions", "outcomes", "episodes", "transcripts"):
        protect(table, "member = (SELECT preheat_team.my_member())")


def _make_leaving() -> None:
    make_function(
        "end_membership(who integer, keeping boolean) RETURNS void",
        """
        DECLARE somewhere uuid := gen_random_uuid();
        BEGIN
            DELETE FROM preheat_team.transcripts WHERE member = who;
            IF keeping THEN
                UPDATE preheat_team.sessions SET member = 0, machine = somewhere, session = gen_random_uuid()::text,
                    level = 'derived', digest = '', origin = '' WHERE member = who;
            ELSE
                DELETE FROM preheat_team.sessions WHERE member = who;
            END IF;
            UPDATE preheat_team.members SET left_at = now() WHERE id = who;
        END""",
    )
    make_function(
        "leave(keeping boolean) RETURNS void",
        """
        DECLARE me record;
        BEGIN
            SELECT * INTO me FROM preheat_team.members WHERE login = session_user AND left_at IS NULL;
            IF me.id IS NULL OR me.role = 'owner' THEN
                RAISE EXCEPTION 'the owner of a team cannot leave it' USING ERRCODE = 'PH001';
            END IF;
            PERFORM preheat_team.end_membership(me.id, keeping);
            EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA preheat_team FROM %I', me.login);
            EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA preheat_team FROM %I', me.login);
            EXECUTE format('REVOKE ALL ON SCHEMA preheat_team FROM %I', me.login);
            IF me.made_login THEN
                EXECUTE format('ALTER ROLE %I NOLOGIN', me.login);
            END IF;
        END""",
    )


def _make_numbers() -> None:
    """Numbers of groups. A group of fewer than `least_people` is not shown but counted among `others`; if those are still too few,
    the next smallest group is counted there, too: else they could be had by taking the shown ones from the whole.

    The sessions are read once, and added up for each person, repository, agent and model; everything else is made of that."""
    sums = (
        "sessions bigint, calls bigint, failed bigint, mistakes bigint, tokens numeric, money double precision, "
        "failed_money double precision, unpriced bigint, work_seconds double precision"
    )
    op.execute(f"CREATE TYPE preheat_team.summed AS (member integer, repository text, agent text, model text, {sums})")
    op.execute("REVOKE ALL ON TYPE preheat_team.summed FROM PUBLIC")
    make_function(
        "sum_sessions() RETURNS SETOF preheat_team.summed",
        """
        SELECT member, repository, agent, model, count(*), sum(calls), sum(failed), sum(mistakes),
            sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens), sum(money), sum(failed_money),
            count(*) FILTER (WHERE money IS NULL), sum(work_seconds)
        FROM preheat_team.sessions AS this
        WHERE NOT EXISTS (  -- a session that two machines of one person have counts once
            SELECT 1 FROM preheat_team.sessions AS other WHERE other.session = this.session
                AND (other.pushed_at, other.member, other.machine) > (this.pushed_at, this.member, this.machine))
        GROUP BY member, repository, agent, model""",
        "LANGUAGE sql STABLE",
    )
    make_function(
        f"numbers() RETURNS TABLE (grouping_name text, name text, people bigint, {sums})",
        """
        #variable_conflict use_column
        DECLARE
            least integer := (SELECT least_people FROM preheat_team.team);
            summed preheat_team.summed[];
            wanted text;
            small text[];
            hidden integer[];
            next_group record;
        BEGIN
            IF preheat_team.my_member() IS NULL THEN
                RAISE EXCEPTION 'not a member of this team' USING ERRCODE = 'insufficient_privilege';
            END IF;
            summed := ARRAY(SELECT s FROM preheat_team.sum_sessions() AS s);
            FOREACH wanted IN ARRAY ARRAY['team', 'repository', 'agent', 'model'] LOOP
                small := '{}';
                hidden := '{}';
                FOR next_group IN  -- the smallest first
                    SELECT g.grouped, array_agg(DISTINCT g.member) AS people FROM (
                        SELECT CASE wanted WHEN 'team' THEN 'team' WHEN 'repository' THEN s.repository WHEN 'agent' THEN s.agent
                            ELSE s.model END AS grouped, s.member, s.sessions FROM unnest(summed) AS s) AS g
                    GROUP BY g.grouped ORDER BY count(DISTINCT g.member), sum(g.sessions), g.grouped
                LOOP
                    IF cardinality(next_group.people) < least OR cardinality(hidden) BETWEEN 1 AND least - 1 THEN
                        small := small || next_group.grouped;
                        hidden := ARRAY(SELECT unnest(hidden) UNION SELECT unnest(next_group.people));
                    END IF;
                END LOOP;
                RETURN QUERY
                    SELECT wanted, CASE WHEN g.grouped = ANY (small) THEN '' ELSE g.grouped END, count(DISTINCT g.member),
                        sum(g.sessions)::bigint, sum(g.calls)::bigint, sum(g.failed)::bigint, sum(g.mistakes)::bigint, sum(g.tokens),
                        sum(g.money), sum(g.failed_money), sum(g.unpriced)::bigint, sum(g.work_seconds)
                    FROM (SELECT CASE wanted WHEN 'team' THEN 'team' WHEN 'repository' THEN s.repository
                        WHEN 'agent' THEN s.agent ELSE s.model END AS grouped, s.* FROM unnest(summed) AS s) AS g
                    GROUP BY 2 HAVING count(DISTINCT g.member) >= least ORDER BY 4 DESC, 2;
            END LOOP;
        END""",
        "LANGUAGE plpgsql STABLE",
    )


def _make_transcripts() -> None:
    """Whole sessions are read by reviewers only, who judge by them whether a lesson holds; nobody else needs the text."""
    make_function(
        "list_transcripts() RETURNS TABLE (session text, repository text, agent text, model text, calls integer, "
        "bytes integer, pushed_at timestamptz)",
        """
        #variable_conflict use_column
        BEGIN
            IF coalesce(preheat_team.my_role(), '') NOT IN ('owner', 'reviewer') THEN
                RAISE EXCEPTION 'only a reviewer reads transcripts' USING ERRCODE = 'insufficient_privilege';
            END IF;
            RETURN QUERY SELECT s.session, s.repository, s.agent, s.model, s.calls, length(t.content), s.pushed_at
                FROM preheat_team.transcripts AS t JOIN preheat_team.sessions AS s USING (member, machine, session)
                ORDER BY s.pushed_at DESC, s.session;
        END""",
    )
    make_function(
        "read_transcript(wanted text) RETURNS bytea",
        """
        BEGIN
            IF coalesce(preheat_team.my_role(), '') NOT IN ('owner', 'reviewer') THEN
                RAISE EXCEPTION 'only a reviewer reads transcripts' USING ERRCODE = 'insufficient_privilege';
            END IF;
            RETURN (SELECT content FROM preheat_team.transcripts WHERE session = wanted LIMIT 1);
        END""",
    )
