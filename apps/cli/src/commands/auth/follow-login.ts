import type { ManagedAuthEvent, ManagedAuthStateEvent, SubmitLogin } from "@shoal/schemas";
import { ExitError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import { type Answerer, Asking } from "./asking.ts";
import type { LoginView } from "./login-view.ts";

export interface FollowedLogin {
  readonly id: string;
  readonly events: AsyncIterable<ManagedAuthEvent>;
  readonly answerer: Answerer;
  readonly view: LoginView;
  readonly submit: (answer: SubmitLogin) => Promise<void>;
}

function isState(event: ManagedAuthEvent): event is ManagedAuthStateEvent {
  return event.event === "managed_auth_state";
}

/** Shows each state and answers each question. @returns the final state. */
export async function followLogin({
  answerer,
  events,
  id,
  submit,
  view,
}: FollowedLogin): Promise<ManagedAuthStateEvent> {
  const iterator = events[Symbol.asyncIterator]();
  let next = iterator.next();
  let asking: Asking | undefined;
  try {
    for (;;) {
      const result = await Promise.race([next, ...(asking ? [asking.done] : [])]);
      if (result === "answered") {
        asking = undefined;
        continue;
      }
      if (result.done === true) break;
      next = iterator.next();
      const event = result.value;
      if (!isState(event)) continue;
      // A resumed stream repeats the open question.
      if (asking !== undefined && event.interaction_id === asking.interactionId) continue;
      await asking?.stop();
      asking = undefined;
      view.state(event);
      if (event.flow_status !== "IN_PROGRESS") return event;
      if (event.flow_step.startsWith("AWAITING"))
        asking = new Asking(event, answerer, {
          submit,
          say: (line) => {
            view.say(line);
          },
        });
    }
  } finally {
    view.stop();
    // Its rejection has no reader.
    next.catch(() => undefined);
    await asking?.stop().catch(() => undefined);
    await iterator.return?.();
  }
  throw new ExitError(
    exitCodes.error.status,
    "The event stream ended before the login.",
    `Show the state with: shoal auth connections get ${id}`,
  );
}
