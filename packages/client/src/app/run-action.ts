import type { Invocation, UpdateInvocation } from "@shoal/schemas";
import { registeredApps, type RegisteredAction } from "./app.ts";
import { checkedBy } from "./value-schema.ts";

/** An invocation to execute. */
export interface RunAction extends Pick<Invocation, "app_name" | "action_name" | "payload"> {
  readonly invocation_id: string;
  /** Aborts the invocation. The handler receives the signal; a runner that cannot wait for it ends the program. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the error of a failed invocation, for logs with a stack. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * @returns the result for `invocations.update`. The output of a failure is `{"error": "…"}`: an invalid payload or
 * output, an unknown app or action, or an exception of the handler.
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
  if (app === undefined) throw new TypeError(`Unknown app ${app_name} in this program${listed([...apps.keys()])}.`);
  const action = app.actions.get(action_name);
  if (action === undefined)
    throw new TypeError(`The app ${app_name} has no action ${action_name}${listed([...app.actions.keys()])}.`);
  return action;
}

function listed(names: readonly string[]): string {
  return names.length === 0
    ? "; it has none"
    : `; it has ${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}`;
}

function parsed(payload: string | undefined): unknown {
  if (payload === undefined) return undefined;
  try {
    return JSON.parse(payload);
  } catch (error) {
    throw new TypeError("payload: expected JSON", { cause: error });
  }
}

/** `undefined` for values without a JSON form. */
function text(output: unknown): string | undefined {
  try {
    return JSON.stringify(output);
  } catch (error) {
    throw new TypeError(`output: cannot be written as JSON: ${messageOf(error)}`, { cause: error });
  }
}

function messageOf(error: unknown): string {
  try {
    // Some HTTP clients set an object.
    const message: unknown = error instanceof Error ? error.message : undefined;
    if (typeof message === "object" && message !== null) return JSON.stringify(message);
    return typeof message === "string" && message !== "" ? message : String(error);
  } catch {
    return "The action failed with something that cannot be shown.";
  }
}
