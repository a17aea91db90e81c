// Preheat's plugin for OpenCode: hands events to Preheat's hook client and adds what it answers. No logic of its own.
// Made by `scripts/make_plugins.py` out of `src/preheat/plugins/opencode.js`; do not edit. Whatever fails here costs the session nothing.
import { spawn } from "node:child_process"

const COMMAND = ["preheat", "hook", "opencode"]
const LIMIT = 2_000
const START_LIMIT = 4_000
const MOST = 2_000_000

class Refused extends Error {}

// One event in, one answer out; {} when none comes in time.
function ask(payload, limit = LIMIT) {
  return new Promise((resolve) => {
    let timer
    const end = (answer) => {
      clearTimeout(timer)
      resolve(answer && typeof answer === "object" ? answer : {})
    }
    try {
      const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      timer = setTimeout(() => {
        child.kill("SIGKILL")
        end({})
      }, limit)
      const chunks = []
      child.stdout.on("data", (chunk) => chunks.push(chunk))
      child.stdin.on("error", () => {})
      child.on("error", () => end({}))
      child.on("close", () => {
        try {
          end(JSON.parse(Buffer.concat(chunks).toString("utf8")))
        } catch {
          end({})
        }
      })
      child.stdin.end(JSON.stringify(payload))
    } catch {
      end({})
    }
  })
}

const safe = (hook) => async (...given) => {
  try {
    await hook(...given)
  } catch (error) {
    if (error instanceof Refused) throw error
  }
}

const short = (value) => (typeof value === "string" && value.length > MOST ? value.slice(0, MOST) : value)

export const Preheat = async ({ client, directory }) => {
  if (process.env.PREHEAT_RUN) return {}
  const sessions = new Map()

  // What is known of a session; it is told of once, when it is first heard of.
  const known = (id, created) => {
    let session = sessions.get(id)
    if (!session) {
      if (sessions.size > 200) sessions.delete(sessions.keys().next().value)
      session = { parent: created?.parentID, context: "", once: [], waiting: new Map(), failed: new Set() }
      sessions.set(id, session)
      session.begun = begin(id, session, created ? "startup" : "resume")
    }
    return session
  }

  const begin = async (id, session, source) => {
    if (source === "resume") {
      const found = await client.session.get({ path: { id } }).catch(() => undefined)
      session.parent = found?.data?.parentID
    }
    if (!session.parent) session.context = (await tell(id, session, { event: "sessionStart", source }, START_LIMIT)).context
  }

  const tell = async (id, session, payload, limit) => {
    const answer = await ask({ ...payload, session: id, parent: session.parent, cwd: directory }, limit)
    return { ...answer, context: typeof answer.context === "string" ? answer.context : "" }
  }

  // Subagents are left alone.
  const main = async (id) => {
    if (!id) return undefined
    const session = known(id)
    await session.begun
    return session.parent ? undefined : session
  }

  const events = {
    "session.created": async ({ info }) => {
      if (info?.id) known(info.id, info)
    },
    "session.compacted": async ({ sessionID }) => {
      const session = await main(sessionID)
      if (session) session.begun = begin(sessionID, session, "compact")
    },
    "session.idle": async ({ sessionID }) => {
      const session = await main(sessionID)
      if (session) await (session.ended = tell(sessionID, session, { event: "idle" }))
    },
    "message.part.updated": async ({ part }) => {
      if (part?.type !== "tool" || part.state?.status !== "error") return
      const session = await main(part.sessionID)
      if (!session || session.failed.has(part.callID)) return
      session.failed.add(part.callID)
      const { input, error, metadata } = part.state
      const told = { event: "toolError", tool: part.tool, call: part.callID, args: input, error: short(error), metadata }
      const { context } = await tell(part.sessionID, session, told)
      if (context) session.once.push(context)
    },
  }

  return {
    event: safe(async ({ event }) => {
      await events[event.type]?.(event.properties ?? {})
    }),

    // What is said with a prompt becomes a part of that message, so that later requests and a resumed session have it, too.
    "chat.message": safe(async ({ sessionID }, { parts }) => {
      const session = await main(sessionID)
      if (!session) return
      const asked = parts.filter((part) => part.type === "text" && !part.synthetic)
      if (!asked.length) return
      const text = asked.map((part) => part.text).join("\n")
      const { context } = await tell(sessionID, session, { event: "prompt", text: short(text) })
      const last = parts[parts.length - 1]
      if (context) parts.push({ ...asked[0], id: `${last.id}p`, text: context, synthetic: true })
    }),

    "experimental.chat.system.transform": safe(async ({ sessionID }, { system }) => {
      if (system.some((text) => text.startsWith("You are a title generator"))) return
      const session = await main(sessionID)
      if (!session) return
      if (session.context) system.push(session.context)
      system.push(...session.once.splice(0))
    }),

    "tool.execute.before": safe(async ({ tool, sessionID, callID }, { args }) => {
      if (tool !== "bash" && tool !== "shell") return
      const session = await main(sessionID)
      if (!session) return
      const { context, block } = await tell(sessionID, session, { event: "toolBefore", tool, call: callID, args })
      if (typeof block === "string" && block) throw new Refused(block)
      if (context) session.waiting.set(callID, context)
    }),

    "tool.execute.after": safe(async ({ tool, sessionID, callID, args }, output) => {
      const session = await main(sessionID)
      if (!session || typeof output?.output !== "string") return
      const { exit, truncated } = output.metadata ?? {}
      const told = { event: "toolAfter", tool, call: callID, args, output: short(output.output), metadata: { exit, truncated } }
      const answer = await tell(sessionID, session, told)
      if (typeof answer.output === "string" && answer.output) output.output = answer.output
      const added = [session.waiting.get(callID), answer.context].filter(Boolean)
      session.waiting.delete(callID)
      if (added.length) output.output += "\n\n" + added.join("\n\n")
    }),

    "experimental.session.compacting": safe(async ({ sessionID }, { context }) => {
      const session = await main(sessionID)
      if (!session) return
      const answer = await tell(sessionID, session, { event: "compacting" })
      if (answer.context) context.push(answer.context)
    }),

    dispose: safe(async () => {
      const told = [...sessions].filter(([, session]) => !session.parent)
      await Promise.all(told.map(([, session]) => session.ended))
      await Promise.all(told.map(([id, session]) => tell(id, session, { event: "sessionEnd" }, 500)))
    }),
  }
}
