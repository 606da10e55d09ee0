import { messageOf } from "@shoal/primitives";
import { join } from "node:path";
import pLimit from "p-limit";
import { type BrowserLaunch, launchChange } from "../browser/chromium/launch.ts";
import type { BrowserSupervisor } from "../browser/chromium/supervisor.ts";
import type { SessionDisplay } from "../browser/display/session-display.ts";
import type { SupervisorLogs } from "../operations/logs/supervisor-logs.ts";
import type { AssignInstance, InstanceConfig } from "../protocol/protocol.ts";
import type { Telemetry } from "../operations/telemetry/telemetry.ts";
import type { Activity } from "./activity.ts";
import type { Refusal } from "../http/replies.ts";

/** Files of a session. Both functions may throw. */
export interface AssignedFiles {
  /** Calls `relaunch` once, with a function that replaces the profile while no browser runs. */
  readonly loadProfile?: (relaunch: (replace: () => Promise<void>) => Promise<void>) => Promise<void>;
  readonly loadExtensions?: () => Promise<void>;
  /** Of the loaded profile. @returns loads their pages. */
  readonly prepareTabs?: () => Promise<() => Promise<void>>;
}

export interface AssignmentsOptions {
  readonly config: InstanceConfig;
  readonly browser: BrowserSupervisor;
  readonly activity: Pick<Activity, "limit">;
  readonly logs: SupervisorLogs;
  readonly loadTelemetry: () => Promise<Telemetry>;
  readonly onSavesProfile: () => void;
  readonly isEnding: () => boolean;
}

export class Assignments {
  readonly #options: AssignmentsOptions;
  /** Concurrent changes could leave the wrong authorities in place. */
  readonly #turn = pLimit(1);
  #sessionId: string | undefined;
  #openedUrl: string | undefined;
  #savesProfile = false;
  #display: SessionDisplay | undefined;
  #trusted = "";
  #signs = false;

  constructor(options: AssignmentsOptions) {
    this.#options = options;
  }

  get savesProfile(): boolean {
    return this.#savesProfile;
  }

  get display(): SessionDisplay | undefined {
    return this.#display;
  }

  /** For a copy of the instance, which serves another session. */
  forget(): void {
    this.#sessionId = undefined;
    this.#savesProfile = false;
  }

  /** @returns the reason for a refusal; `undefined` when the settings are in effect. @throws errors of `files`. */
  async assign(request: AssignInstance, files: AssignedFiles = {}): Promise<Refusal | undefined> {
    const refusal = this.#claim(request.session_id);
    if (refusal !== undefined) return refusal;
    const { activity, browser, onSavesProfile } = this.#options;
    // Repeating an assignment must not navigate away from the user's page.
    const startUrl = request.start_url === this.#openedUrl ? undefined : request.start_url;
    this.#openedUrl = request.start_url ?? this.#openedUrl;
    activity.limit(request.timeout_seconds * 1000);
    if (request.saves_profile !== undefined) this.#savesProfile = request.saves_profile;
    if (request.saves_profile === true) onSavesProfile();
    if (request.viewport !== undefined) void browser.resize(request.viewport);
    const isQuick =
      request.launch === undefined && request.authorities === undefined && files.loadProfile === undefined;
    if (isQuick) return this.#finish(request, files, startUrl);
    return this.#turn(
      async () => (await this.#changeBrowser(request, files)) ?? this.#finish(request, files, startUrl),
    );
  }

  #claim(sessionId: string): Refusal | undefined {
    if (this.#options.isEnding()) return { status: 503, code: "shutting_down", message: "This instance is ending." };
    if (this.#sessionId !== undefined && this.#sessionId !== sessionId)
      return { status: 409, code: "conflict", message: `This instance already serves session ${this.#sessionId}.` };
    this.#sessionId = sessionId;
    return undefined;
  }

  /** Makes all changes with one relaunch of the browser, or with none. */
  async #changeBrowser(
    { authorities, launch, viewport }: AssignInstance,
    { loadProfile }: AssignedFiles,
  ): Promise<Refusal | undefined> {
    const { browser, config } = this.#options;
    const change = launchChange(config, browser.launch, launch ?? {});
    if (change === "no_full_chromium") return noFullChromium;
    const screen = change?.headless === false ? await this.#openScreen(viewport) : undefined;
    if (screen !== undefined && "status" in screen) return screen;
    const retrust = authorities === undefined || authorities === this.#trusted ? undefined : authorities;
    const relaunch = async (replace?: () => Promise<void>): Promise<void> => {
      const changes = {
        ...(await this.#namedAsAPersons(change ?? {})),
        ...(viewport && { page: viewport }),
        ...(screen && { display: screen.name }),
      };
      await browser.relaunch(changes, async () => {
        if (retrust !== undefined) await this.#trust(retrust);
        await replace?.();
      });
    };
    if (loadProfile !== undefined) {
      await loadProfile(relaunch);
      return undefined;
    }
    if (change === undefined && retrust === undefined) return undefined;
    return relaunch().then(() => undefined, notStarted);
  }

  /** Telemetry captures the first page from its first request, and extensions see it too. */
  async #finish(
    { sign_hosts: hosts, telemetry }: AssignInstance,
    { loadExtensions, prepareTabs }: AssignedFiles,
    startUrl: string | undefined,
  ): Promise<undefined> {
    await loadExtensions?.();
    const loadTabs = await prepareTabs?.();
    if (hosts !== undefined) await this.#sign(hosts);
    if (telemetry !== undefined) await (await this.#options.loadTelemetry()).select(telemetry);
    if (startUrl !== undefined) this.#options.browser.open(startUrl);
    await loadTabs?.();
  }

  async #sign(hosts: readonly string[]): Promise<void> {
    if (this.#signs) return;
    this.#signs = true;
    const { browser, config } = this.#options;
    const { signRequests } = await import("../browser/signing/request-signing.ts");
    await signRequests({ browser, egressPath: config.egress_path, hosts });
  }

  async #trust(authorities: string): Promise<void> {
    const { config } = this.#options;
    const { trustAuthorities } = await import("../browser/chromium/authorities.ts");
    await trustAuthorities(join(config.root, config.home), authorities);
    this.#trusted = authorities;
  }

  /** A stealth browser with a window already has a user agent without "Headless". */
  async #namedAsAPersons(change: Partial<BrowserLaunch>): Promise<Partial<BrowserLaunch>> {
    if (change.stealth !== true || change.headless === false || change.program === undefined) return change;
    const { windowedUserAgent } = await import("../browser/chromium/stealth.ts");
    const userAgent = await windowedUserAgent(change.program.executable, await this.#options.browser.cdp());
    return { ...change, userAgent };
  }

  async #openScreen(
    viewport: AssignInstance["viewport"] = this.#options.config.viewport,
  ): Promise<SessionDisplay | Refusal> {
    if (this.#display !== undefined) return this.#display;
    const { config, logs } = this.#options;
    try {
      const { openSessionDisplay } = await import("../browser/display/session-display.ts");
      const opened = await openSessionDisplay({
        sessionDir: config.session_dir,
        viewport,
        onLine(line) {
          logs.add("instance", `Xvfb: ${line}`);
        },
      });
      if (!("status" in opened)) this.#display = opened;
      return opened;
    } catch (error) {
      return {
        status: 503,
        code: "browser_not_running",
        message: `The browser's screen could not be started: ${messageOf(error)}`,
      };
    }
  }

  /** Reloads policies in the running browser where possible, which keeps pages and clients. */
  async readPolicies(revision: string): Promise<Refusal | undefined> {
    const { browser, config } = this.#options;
    const change = launchChange(config, browser.launch, { full: true });
    if (change === "no_full_chromium") return noFullChromium;
    try {
      const { reloadPolicies } = await import("../browser/chromium/policies.ts");
      if (change !== undefined || !(await reloadPolicies(await browser.cdp(), revision)))
        await browser.relaunch(change ?? {});
      return undefined;
    } catch (error) {
      return notStarted(error);
    }
  }
}

const noFullChromium: Refusal = {
  status: 422,
  code: "no_full_chromium",
  message: "This server has only a headless shell, and the session needs a full Chromium.",
};

function notStarted(error: unknown): Refusal {
  return {
    status: 503,
    code: "browser_not_running",
    message: `The browser could not be restarted: ${messageOf(error)}.`,
  };
}
