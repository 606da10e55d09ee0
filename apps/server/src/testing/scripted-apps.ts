import { createId, messageOf } from "@shoal/primitives";
import { sealedPlace } from "../deployed-apps/deployments/deployment-row.ts";
import {
  type AppOutput,
  type AppProgram,
  type AppRuntime,
  BuildError,
  type RunnableApp,
} from "../deployed-apps/runtime/app-runtime.ts";
import { deploymentRow } from "./deployment-row.ts";
import { envelopesOf } from "./envelopes-of.ts";
import type { TestServer } from "./test-server.ts";

export interface ScriptedCall {
  readonly invocation_id: string;
  readonly payload: unknown;
  readonly api_key: string;
  readonly stopped: AbortSignal;
  print(text: string): void;
}

export type ScriptedAction = (call: ScriptedCall) => unknown;

/** A runtime whose programs are functions of the test, for tests of what happens around a program. */
export class ScriptedApps implements AppRuntime {
  readonly #actions: Readonly<Record<string, ScriptedAction>>;
  /** Programs that were not stopped. */
  readonly alive = new Set<string>();
  started = 0;

  constructor(actions: Readonly<Record<string, ScriptedAction>>) {
    this.#actions = actions;
  }

  start(app: RunnableApp, output: AppOutput, signal: AbortSignal): Promise<AppProgram> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    this.started += 1;
    const id = createId();
    const stopping = new AbortController();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    this.alive.add(id);
    const print = (text: string): void => {
      output.line({ source: "stdout", text, at: new Date() });
    };
    print("imported");
    return Promise.resolve({
      ended,
      stop: () => {
        this.alive.delete(id);
        stopping.abort();
        resolve();
        return ended;
      },
      invoke: async ({ action_name, invocation_id, payload }) => {
        try {
          const result: unknown = await this.#actions[action_name]?.({
            invocation_id,
            payload: payload === undefined ? undefined : (JSON.parse(payload) as unknown),
            api_key: app.api_key,
            stopped: stopping.signal,
            print,
          });
          return { status: "succeeded", output: JSON.stringify(result ?? null) };
        } catch (error) {
          const reason = messageOf(error);
          return { status: "failed", output: JSON.stringify({ error: reason }), status_reason: reason };
        }
      },
    });
  }

  build(): Promise<never> {
    return Promise.reject(new BuildError("Scripted apps are not built."));
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

  /** Inserts a running deployment of an app with these actions. @returns its id. */
  async deploy(server: TestServer, projectId: string, appName = "shop", secretKey?: string): Promise<string> {
    const id = createId();
    const envelopes = await envelopesOf(server, secretKey);
    const row = { id, project_id: projectId };
    await server.database.query
      .insertInto("deployments")
      .values(deploymentRow({ ...row, env: await envelopes.seal("{}", sealedPlace(row, "env")) }))
      .execute();
    await server.database.query
      .insertInto("app_versions")
      .values({
        id: createId(),
        project_id: projectId,
        deployment_id: id,
        app_name: appName,
        version: "latest",
        actions: JSON.stringify(Object.keys(this.#actions).map((name) => ({ name }))),
        is_current: true,
      })
      .execute();
    return id;
  }
}

/** Resolves when the program is stopped. */
export function forever({ stopped }: ScriptedCall): Promise<never> {
  return new Promise((_resolve, reject) => {
    stopped.addEventListener("abort", () => {
      reject(new Error("killed"));
    });
  });
}
