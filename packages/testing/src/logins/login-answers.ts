import { loginEvent, loginFields } from "@shoal/contract/logins";
import type { StreamFrame } from "@shoal/router";
import type { AuthConnection, ManagedAuthEvent, TimelineEvent } from "@shoal/schemas";
import type { LoginRow } from "../state/logins.ts";
import { hostedUrl } from "./handoff.ts";
import type { ConnectionRow } from "../state/store.ts";

const heartbeatMs = 15_000;

const shown = (connection: ConnectionRow, login: LoginRow, baseUrl: string) =>
  ({ type: "login", addresses: { hosted_url: hostedUrl({ connection, login }, baseUrl) } }) as const;

/** The part of a connection that describes its latest login. */
export function latestLogin(connection: ConnectionRow, baseUrl: string): Partial<AuthConnection> {
  const login = connection.logins.at(-1);
  return login === undefined ? {} : loginFields({ state: login.state, ...shown(connection, login, baseUrl) });
}

export function toTimelineEvent({ createdAt, id, note, state, updatedAt }: LoginRow): TimelineEvent {
  const { error, status, step } = state;
  return {
    type: "login",
    id,
    timestamp: createdAt,
    status,
    step: status === "EXPIRED" ? "EXPIRED" : step,
    ...(error && { error_code: error.code, error_message: error.message }),
    ...(error?.websiteError !== undefined && { website_error: error.websiteError }),
    ...(note !== undefined && { note }),
    updated_at: updatedAt,
  };
}

/** The state at once, then each change, and heartbeats; ends with the login. */
export async function* followLogin(
  login: LoginRow,
  connection: ConnectionRow,
  { baseUrl, signal }: { readonly baseUrl: string; readonly signal: AbortSignal },
): AsyncGenerator<StreamFrame<ManagedAuthEvent>, void, undefined> {
  const states = login.states.read(login.states.lastId - 1);
  signal.addEventListener("abort", () => void states.return?.(), { once: true });
  // A reader that resumes gets the state at once, for every last id.
  let id = "0";
  let next = states.next();
  while (!signal.aborted) {
    const result = await orQuiet(next);
    if (result === "quiet") {
      yield { id, event: "sse_heartbeat", data: { event: "sse_heartbeat", timestamp: new Date().toISOString() } };
      continue;
    }
    if (result.done === true) return;
    const frame = result.value;
    id = frame.id;
    if ("data" in frame) {
      const data = loginEvent({ state: frame.data, ...shown(connection, login, baseUrl) }, login.updatedAt);
      yield { id, event: data.event, data };
    } else if ("caughtUp" in frame) yield frame;
    next = states.next();
  }
}

async function orQuiet<T>(promise: Promise<T>): Promise<T | "quiet"> {
  let timer: NodeJS.Timeout | undefined;
  const quiet = new Promise<"quiet">((resolve) => {
    timer = setTimeout(resolve, heartbeatMs, "quiet");
  });
  try {
    return await Promise.race([promise, quiet]);
  } finally {
    clearTimeout(timer);
  }
}
