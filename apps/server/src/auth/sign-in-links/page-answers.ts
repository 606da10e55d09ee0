import type { Endpoint } from "@shoal/contract";
import type { Handler, HandlerCall, StreamFrame } from "@shoal/router";
import type { AuthConnection, ManagedAuthStateEvent, SubmittedLogin } from "@shoal/schemas";
import type { Access } from "../../http/auth/access.ts";

type Field = keyof AuthConnection | keyof ManagedAuthStateEvent | keyof SubmittedLogin;

/** A page sees the questions for the person, and hides the rest, such as the browser session and the proxy. */
const shownFields: ReadonlySet<string> = new Set<Field>([
  "accepted",
  "choices",
  "discovered_fields",
  "domain",
  "error_code",
  "error_message",
  "event",
  "external_action_message",
  "fields",
  "flow_expires_at",
  "flow_status",
  "flow_step",
  "flow_type",
  "id",
  "interaction_id",
  // `LoginPages` makes a separate one for pages.
  "live_view_url",
  "mfa_options",
  "pending_sso_buttons",
  "profile_name",
  "record_session",
  "save_credentials",
  "sign_in_options",
  "sso_provider",
  "status",
  "timestamp",
  "website_error",
]);

function shown(answer: object): object {
  return Object.fromEntries(Object.entries(answer).filter(([name]) => shownFields.has(name)));
}

type Frames = AsyncIterable<StreamFrame<{ readonly event: string }>>;

async function* shownFrames(frames: Frames): AsyncGenerator<StreamFrame<object>> {
  for await (const frame of frames)
    yield "data" in frame && frame.data.event === "managed_auth_state" ? { ...frame, data: shown(frame.data) } : frame;
}

/** Hides fields from callers with the token of a sign-in page. */
export function forPages(endpoint: Endpoint, handler: Handler<Endpoint, Access>): Handler<Endpoint, Access> {
  const isStream = Object.values(endpoint.responses).some(({ kind }) => kind === "events");
  return async (call: HandlerCall<Endpoint, Access>) => {
    // The contract's responses of these operations are objects and events.
    const answer = (await handler(call)) as unknown;
    if (call.context.handoff === undefined || answer === undefined) return answer as undefined;
    return isStream ? shownFrames(answer as Frames) : shown(answer as object);
  };
}
