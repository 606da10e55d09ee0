import { describeApps, runAction } from "@shoal/client/app";
import { messageOf } from "@shoal/primitives";
import {
  type AppOutput,
  type AppProgram,
  type AppResult,
  type AppRuntime,
  BuildError,
  type BuiltApp,
} from "@shoal/server";
import type { FakeAction } from "./actions.ts";

/** Apps that are functions of the test, and apps that its process registered. Sources of deployments do not run. */
export class ScriptedApps implements AppRuntime {
  readonly ignoresRepositories = true;
  readonly #apps = new Map<string, Readonly<Record<string, FakeAction>>>();

  add(name: string, actions: Readonly<Record<string, FakeAction>>): void {
    this.#apps.set(name, actions);
  }

  clear(): void {
    this.#apps.clear();
  }

  /** Apps of `fake.addApp` replace registered ones with the same name. */
  async build({ deployment_id, entrypoint }: Parameters<AppRuntime["build"]>[0]): Promise<BuiltApp> {
    const registered = (await describeApps()).apps.filter(({ name }) => !this.#apps.has(name));
    const added = [...this.#apps].map(([name, actions]) => ({
      name,
      actions: Object.keys(actions).map((action) => ({ name: action, input_schema: null, output_schema: null })),
    }));
    const apps = [...registered, ...added];
    if (apps.length === 0)
      throw new BuildError("The fake knows no app. Add one with fake.addApp(), or import its file in the test.");
    return { artifact: deployment_id, language: entrypoint.endsWith(".py") ? "python" : "node", apps };
  }

  start(_app: unknown, output: AppOutput): Promise<AppProgram> {
    const stopping = new AbortController();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    return Promise.resolve({
      ended,
      invoke: (call) => this.#invoke(call, output, stopping.signal),
      stop() {
        stopping.abort();
        resolve();
        return ended;
      },
    });
  }

  has(): Promise<boolean> {
    return Promise.resolve(true);
  }

  remove(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #invoke(call: Parameters<AppProgram["invoke"]>[0], output: AppOutput, signal: AbortSignal): Promise<AppResult> {
    const { action_name, app_name, invocation_id, payload } = call;
    const action = this.#apps.get(app_name)?.[action_name];
    if (action === undefined) {
      let status_reason: string | undefined;
      const onError = (error: unknown): void => {
        status_reason = messageOf(error);
      };
      const { output: text, status } = await runAction({ ...call, signal, onError });
      return {
        status,
        ...(text !== undefined && { output: text }),
        ...(status_reason !== undefined && { status_reason }),
      };
    }
    try {
      const log = (text: string): void => {
        if (!signal.aborted) output.line({ source: "stdout", text, at: new Date() });
      };
      const parsed: unknown = payload === undefined ? undefined : JSON.parse(payload);
      // `stringify` returns `undefined` for a function without a result, although its type says otherwise.
      const text = JSON.stringify(await action(parsed, { invocation_id, signal, log })) as string | undefined;
      return { status: "succeeded", ...(text !== undefined && { output: text }) };
    } catch (error) {
      const reason = messageOf(error);
      return { status: "failed", output: JSON.stringify({ error: reason }), status_reason: reason };
    }
  }
}
