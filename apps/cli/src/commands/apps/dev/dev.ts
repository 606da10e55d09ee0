import { createId, messageOf } from "@shoal/primitives";
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { call } from "../../../connection/call.ts";
import { reach } from "../../../connection/reach.ts";
import { ExitError, UsageError } from "../../../core/errors.ts";
import { exitCodes } from "../../../core/exit-codes.ts";
import type { Run } from "../../../core/types.ts";
import { printable } from "../../../output/format.ts";
import { payloadOf } from "../apps.ts";
import { environment, type EnvironmentFlags } from "../deploy.ts";
import type { AppFlags, SpecOf } from "../follow-to-end.ts";
import { type Action, actionOf, actionsByWord, parseLine } from "./actions.ts";
import { DevView } from "./dev-view.ts";
import { InputWatch } from "./input-watch.ts";
import { loadAppRunner } from "./load-app-runner.ts";
import { LocalApp, type LocalResult } from "./local-app.ts";
import type { LocalEntry } from "./local-builds.ts";
import { Prompt } from "./prompt.ts";
import { ServiceRelay } from "./service-relay.ts";

export interface DevFlags extends AppFlags, EnvironmentFlags {
  readonly invoke?: string;
  readonly payload?: string;
  readonly payloadFile?: string;
}

/** Milliseconds to end the browsers of an invocation. */
const endBrowsersMs = 10_000;
const help = `ACTION [JSON]  invoke an action
.actions       list the actions
.reload        build again
.exit          leave (also Ctrl-D)`;

export async function dev(entrypoint: string, specOf: SpecOf, flags: DevFlags, run: Run): Promise<void> {
  const entry = await entryOf(entrypoint);
  const payload = payloadOf(flags);
  if (payload !== undefined && flags.invoke === undefined)
    throw new UsageError("--payload and --payload-file need --invoke.");
  const variables = environment(flags).env_vars ?? {};
  const to = reach(flags, run);
  const runner = await loadAppRunner();
  const relay = await ServiceRelay.open(to);
  const view = new DevView(run, flags);
  const apiKey = to.apiKey ?? "";
  const app = new LocalApp(runner, {
    entry,
    env: {
      ...variables,
      ENTRYPOINT_RELPATH: entry.name,
      KERNEL_API_KEY: apiKey,
      KERNEL_BASE_URL: relay.url,
      KERNEL_INVOCATION: "waiting",
      SHOAL_API_KEY: apiKey,
      SHOAL_BASE_URL: relay.url,
    },
    shell: run.env,
    onLine: (source, text) => {
      view.line(source, text);
    },
  });
  const session = new DevSession({ app, relay, view, flags, run, specOf });
  try {
    await app.open();
    if (flags.invoke === undefined) await session.prompt();
    else await session.once(flags.invoke, payload);
  } finally {
    await session.close();
  }
}

async function entryOf(entrypoint: string): Promise<LocalEntry> {
  const path = resolve(entrypoint);
  const info = await stat(path).catch(() => undefined);
  if (info?.isFile() !== true) throw new UsageError(`<entrypoint> must be a file; ${entrypoint} is not.`);
  const [folder, name] = [dirname(path), basename(path)];
  if (extname(name) === ".py") return { folder, name, language: "python" };
  if (!/^\.[cm]?[jt]sx?$/.test(extname(name)))
    throw new UsageError("<entrypoint> must end with .ts, .js, .mts, .mjs, .cts, .cjs, .tsx, .jsx or .py.");
  if (!existsSync(join(folder, "package.json")))
    throw new ExitError(
      exitCodes.usage.status,
      `${printable(folder)} has no package.json, which a deployment needs.`,
      "Create it with: npm init, or create an app with: shoal init FOLDER",
    );
  return { folder, name, language: "node" };
}

interface Parts {
  readonly app: LocalApp;
  readonly relay: ServiceRelay;
  readonly view: DevView;
  readonly flags: DevFlags;
  readonly run: Run;
  readonly specOf: SpecOf;
}

class DevSession {
  readonly #parts: Parts;
  readonly #watch: InputWatch;
  #reloading: Promise<void> = Promise.resolve();
  #preparing: Promise<void> = Promise.resolve();
  #prompt: Prompt | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#watch = new InputWatch((name) => {
      parts.view.notice(`${name} changed.`);
      this.#reload();
    });
    parts.run.signal.addEventListener("abort", () => {
      parts.app.cancel();
      this.#prompt?.close();
    });
  }

  /** @throws {ExitError} if the app or the action fails. */
  async once(word: string, payload: string | undefined): Promise<void> {
    const { app, view } = this.#parts;
    const loaded = await app.reload();
    if ("problem" in loaded) {
      for (const line of loaded.problem) view.line("build", line);
      throw new ExitError(exitCodes.error.status, "The app cannot be started.");
    }
    const action = actionOf(word, loaded.apps);
    const { status, status_reason } = await this.#invoke(action, payload);
    if (status === "failed")
      throw new ExitError(
        exitCodes.error.status,
        `Action ${printable(action.action_name)} failed${status_reason === undefined ? "" : `: ${printable(status_reason)}`}`,
      );
  }

  /** Invokes actions until the input ends. */
  async prompt(): Promise<void> {
    const { app, run, view } = this.#parts;
    const prompt = new Prompt(run.terminal, {
      words: () => [...actionsByWord(app.apps).keys()],
      onInterrupt: () => {
        if (app.cancel()) view.notice("Cancelling the action. Press Ctrl-C again to leave.");
        else prompt.close();
      },
    });
    this.#prompt = prompt;
    if (run.terminal.interactive)
      view.below(() => {
        prompt.show();
      });
    this.#reload();
    await this.#reloading;
    for (;;) {
      if (run.terminal.interactive) prompt.show();
      const line = await prompt.next();
      if (line === undefined || line.trim() === ".exit") return;
      await this.#perform(line.trim());
    }
  }

  async close(): Promise<void> {
    const { app, relay, view } = this.#parts;
    view.below(undefined);
    this.#watch.close();
    this.#prompt?.close();
    await app.close();
    await Promise.all([this.#reloading, this.#preparing]);
    await Promise.all(relay.invocations().map((id) => this.#endBrowsers(id)));
    relay.close();
  }

  async #perform(line: string): Promise<void> {
    const { app, view } = this.#parts;
    if (line === "") return;
    // A change of a file and the next line may arrive together.
    await this.#reloading;
    if (line === ".actions") view.actions(app.apps);
    else if (line === ".reload") {
      this.#reload();
      await this.#reloading;
    } else if (line.startsWith(".")) view.notice(help);
    else if (app.apps.length === 0) view.notice("The app has no good build yet.");
    else
      try {
        const { action, payload } = parseLine(line, app.apps);
        await this.#invoke(action, payload);
        this.#preparing = app.prepare().catch(() => undefined);
      } catch (error) {
        view.notice(messageOf(error));
      }
  }

  async #invoke(action: Action, payload: string | undefined): Promise<LocalResult> {
    const { app, relay, view } = this.#parts;
    const of = { ...action, invocation_id: createId() };
    relay.begin(of.invocation_id);
    await this.#preparing;
    const began = performance.now();
    const result = await app.invoke({ ...of, payload });
    if (result.status === "failed") await this.#endBrowsers(of.invocation_id);
    view.result(of, result, performance.now() - began);
    return result;
  }

  #reload(): void {
    this.#reloading = this.#reloading.then(() => this.#reloadNow());
  }

  /** Never rejects. */
  async #reloadNow(): Promise<void> {
    const { app, run, view } = this.#parts;
    const hadApps = app.apps.length > 0;
    const loaded = await app.reload().catch((error: unknown) => ({ problem: [messageOf(error)], inputs: [] }));
    if (run.signal.aborted) return;
    if (loaded.inputs.length > 0) this.#watch.follow(loaded.inputs, "problem" in loaded);
    if ("problem" in loaded) {
      for (const line of loaded.problem) view.line("build", line);
      view.notice(hadApps ? "The last good build stays. Waiting for a change." : "Waiting for a change.");
    } else {
      view.actions(loaded.apps);
      view.notice(hadApps ? "Reloaded." : "Ready. Type an action and its payload, or .help.");
    }
  }

  async #endBrowsers(invocationId: string): Promise<void> {
    const { flags, relay, run, specOf, view } = this.#parts;
    const late = AbortSignal.timeout(endBrowsersMs);
    const { ApiError } = await import("@shoal/transport");
    const ids = await Promise.race([relay.end(invocationId), delay(endBrowsersMs, [], { ref: false })]);
    for (const id of ids) {
      const request = { params: { id_or_name: id }, query: {}, body: undefined };
      // The command's own signal may be aborted.
      const own = { ...run, signal: late };
      await call(specOf("browsers.delete"), request, flags, own).catch((error: unknown) => {
        if (!ApiError.isInstance(error) || error.status !== 404)
          view.notice(`Browser ${id} could not be ended: ${messageOf(error)}`);
      });
    }
  }
}
