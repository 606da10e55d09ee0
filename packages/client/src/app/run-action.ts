import type { Invocation, UpdateInvocation } from "@shoal/schemas";
import { registeredApps, type RegisteredAction } from "./app.ts";
import { checkedBy } from "./value-schema.ts";

/** An invocation as a runner hands it in. */
export interface RunAction extends Pick<Invocation, "app_name" | "action_name" | "payload"> {
  readonly invocation_id: string;
  /** Aborted when the invocation is cancelled or has no more time. The handler is told; a runner that cannot wait for it ends the program. */
  readonly signal?: AbortSignal | undefined;
  /** Told what made the invocation fail, with its stack, for a log. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * Runs an action of this program.
 *
 * @returns how it ended, as `invocations.update` takes it. A failure's output is `{"error": "…"}`: a payload or output that does not
 *   fit, an app or action that there is not, or what the handler threw.
 */
export async function runAction(request: RunAction): Promise<UpdateInvocation> {
  try {
    const action = actionOf(request);
    const payload = parsed(request.payload);
    const checked = action.payload === undefined ? payload : await checkedBy(action.payload, payload, "payload");
    const { action_name, app_name, invocation_id, signal = new AbortController().signal } = request;
    const returned = await action.handler({ invocation_id, app_name, action_name, signal }, checked);
    const output = text(action.output === undefined ? returned : await checkedBy(action.output, returned, "output"));
    return { status: "succeeded", ...(output !== undefined && { output }) };
  } catch (error) {
    request.onError?.(error);
    return { status: "failed", output: JSON.stringify({ error: messageOf(error) }) };
  }
}

function actionOf({ action_name, app_name }: RunAction): RegisteredAction {
  const apps = registeredApps();
  const app = apps.get(app_name);
  if (app === undefined) throw new TypeError(`There is no app ${app_name} in this program${listed([...apps.keys()])}.`);
  const action = app.actions.get(action_name);
  if (action === undefined) throw new TypeError(`The app ${app_name} has no action ${action_name}${listed([...app.actions.keys()])}.`);
  return action;
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? "; it has none" : `; it has ${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}`;
}

function parsed(payload: string | undefined): unknown {
  if (payload === undefined) return undefined;
  try {
    return JSON.parse(payload);
  } catch (error) {
    throw new TypeError("payload: expected JSON", { cause: error });
  }
}

/** JSON as text; `undefined` for what JSON has no words for. */
function text(output: unknown): string | undefined {
  try {
    return JSON.stringify(output);
  } catch (error) {
    throw new TypeError(`output: cannot be written as JSON: ${messageOf(error)}`, { cause: error });
  }
}

function messageOf(error: unknown): string {
  if (error instanceof Error && error.message !== "") return error.message;
  try {
    return String(error);
  } catch {
    return "The action failed with something that cannot be shown.";
  }
}
