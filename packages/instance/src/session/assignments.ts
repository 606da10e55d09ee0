import { join } from "node:path";
import { type BrowserLaunch, launchChange } from "../chromium/launch.ts";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import type { SessionDisplay } from "../display/session-display.ts";
import type { SupervisorLogs } from "../logs/supervisor-logs.ts";
import type { AssignInstance, InstanceConfig, LaunchWishes } from "../protocol.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import type { Activity } from "./activity.ts";
import type { Refusal } from "./replies.ts";

/** What the service says of the session that this instance serves, put into effect. */
export interface Assignments {
  /** @returns what is wrong with it; `undefined` where it holds from now on. */
  readonly assign: (request: AssignInstance) => Refusal | undefined | Promise<Refusal | undefined>;
  /** Has the browser read the policies of its session anew. */
  readonly readPolicies: (revision: string) => Promise<Refusal | undefined>;
  /** The session's own screen, where it has one. */
  readonly display: () => SessionDisplay | undefined;
  /** Whether its profile is saved at its end. */
  readonly savesProfile: boolean;
}

interface AssignmentsOptions {
  readonly config: InstanceConfig;
  readonly browser: BrowserSupervisor;
  readonly activity: Activity;
  readonly logs: SupervisorLogs;
  readonly loadTelemetry: () => Promise<Telemetry>;
  /** Called when the session is to save its profile. */
  readonly onSavesProfile: () => void;
  readonly isEnding: () => boolean;
}

const noFullChromium: Refusal = { status: 422, code: "no_full_chromium", message: "There is no full Chromium here, only a headless shell." };

function notStarted(error: unknown): Refusal {
  return {
    status: 503,
    code: "browser_not_running",
    message: `The browser could not be started as it was asked for: ${error instanceof Error ? error.message : String(error)}.`,
  };
}

export function createAssignments({ config, browser, activity, logs, loadTelemetry, onSavesProfile, isEnding }: AssignmentsOptions): Assignments {
  let sessionId: string | undefined;
  let openedUrl: string | undefined;
  let savesProfile = false;
  let display: SessionDisplay | undefined;
  /** Authorities that the browser has been told of, as PEM. */
  let trusted = "";
  let assigning: Promise<unknown> = Promise.resolve();

  function assign(request: AssignInstance): Refusal | undefined | Promise<Refusal | undefined> {
    if (isEnding()) return { status: 503, code: "shutting_down", message: "This instance is ending." };
    if (sessionId !== undefined && sessionId !== request.session_id) {
      return { status: 409, code: "conflict", message: `This instance serves session ${sessionId} already.` };
    }
    sessionId = request.session_id;
    // Asked for again, it stays as its user has left it.
    const startUrl = request.start_url === openedUrl ? undefined : request.start_url;
    openedUrl = request.start_url ?? openedUrl;
    activity.limit(request.timeout_seconds * 1000);
    if (request.saves_profile !== undefined) savesProfile = request.saves_profile;
    if (request.saves_profile === true) onSavesProfile();
    if (request.viewport !== undefined) void browser.resize(request.viewport);
    if (request.launch !== undefined || request.authorities !== undefined)
      return inTurn(() => assignWithLaunch(request, request.launch ?? {}, startUrl));
    if (request.telemetry !== undefined) return assignWithTelemetry(request.telemetry, startUrl);
    if (startUrl !== undefined) browser.open(startUrl);
    return undefined;
  }

  /** The first page is to be seen from its first request on. */
  async function assignWithTelemetry(categories: NonNullable<AssignInstance["telemetry"]>, startUrl: string | undefined): Promise<undefined> {
    await (await loadTelemetry()).select(categories);
    if (startUrl !== undefined) browser.open(startUrl);
  }

  async function assignWithLaunch(
    { authorities, viewport, telemetry: categories }: AssignInstance,
    wishes: LaunchWishes,
    startUrl: string | undefined,
  ): Promise<Refusal | undefined> {
    const change = launchChange(config, browser.launch, wishes);
    if (change === "no_full_chromium") return noFullChromium;
    const screen = change?.headless === false ? await openScreen(viewport) : undefined;
    if (screen !== undefined && "status" in screen) return screen;
    const retrust = authorities === undefined ? undefined : trust(authorities);
    try {
      if (change !== undefined || retrust !== undefined)
        await browser.relaunch(
          { ...(await namedAsAPersons(change ?? {})), ...(viewport && { page: viewport }), ...(screen && { display: screen.name }) },
          retrust,
        );
    } catch (error) {
      return notStarted(error);
    }
    if (categories !== undefined) await (await loadTelemetry()).select(categories);
    if (startUrl !== undefined) browser.open(startUrl);
    return undefined;
  }

  /** One after the other, or two that ask for different authorities at once could leave those of the first. */
  function inTurn<T>(assignNow: () => Promise<T>): Promise<T> {
    const assigned = assigning.then(assignNow);
    assigning = assigned.catch(() => undefined);
    return assigned;
  }

  /** What is to be done while no browser runs, so that the next one trusts these authorities; `undefined` where the present one does. */
  function trust(authorities: string): (() => Promise<void>) | undefined {
    if (authorities === trusted) return undefined;
    return async () => {
      const { trustAuthorities } = await import("../chromium/authorities.ts");
      await trustAuthorities(join(config.root, config.home), authorities);
      trusted = authorities;
    };
  }

  /** With a window of its own it says nothing of being headless. */
  async function namedAsAPersons(change: Partial<BrowserLaunch>): Promise<Partial<BrowserLaunch>> {
    if (change.stealth !== true || change.headless === false || change.program === undefined) return change;
    const { windowedUserAgent } = await import("../chromium/stealth.ts");
    return { ...change, userAgent: await windowedUserAgent(change.program.executable, await browser.cdp()) };
  }

  async function openScreen(viewport: AssignInstance["viewport"] = config.viewport): Promise<SessionDisplay | Refusal> {
    if (display !== undefined) return display;
    try {
      const { openSessionDisplay } = await import("../display/session-display.ts");
      const opened = await openSessionDisplay({
        sessionDir: config.session_dir,
        viewport,
        onLine(line) {
          logs.add("instance", `Xvfb: ${line}`);
        },
      });
      if (!("status" in opened)) display = opened;
      return opened;
    } catch (error) {
      return {
        status: 503,
        code: "browser_not_running",
        message: `The browser has no screen: ${error instanceof Error ? error.message : String(error)}`,
      };
    }
  }

  /** Pages and clients stay where the browser can read them while it runs. */
  async function readPolicies(revision: string): Promise<Refusal | undefined> {
    const change = launchChange(config, browser.launch, { full: true });
    if (change === "no_full_chromium") return noFullChromium;
    try {
      const { reloadPolicies } = await import("../chromium/policies.ts");
      if (change !== undefined || !(await reloadPolicies(await browser.cdp(), revision))) await browser.relaunch(change ?? {});
      return undefined;
    } catch (error) {
      return notStarted(error);
    }
  }

  return {
    assign,
    readPolicies,
    display: () => display,
    get savesProfile() {
      return savesProfile;
    },
  };
}
