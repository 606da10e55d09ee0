import { join } from "node:path";
import type { BrowserSupervisor } from "../browser/chromium/supervisor.ts";
import type { SessionDisplay } from "../browser/display/session-display.ts";
import type { OpenPages } from "../browser/pages/open-pages.ts";
import type { EgressForwarder } from "../egress/forwarder.ts";
import type { LiveView } from "../clients/live-view/live-view.ts";
import type { SupervisorLogs } from "../operations/logs/supervisor-logs.ts";
import { TypedSecrets } from "../secrets/typed-secrets.ts";
import type { Operations } from "./operations.ts";
import type { ControlTargets } from "./control-handlers.ts";
import type { ProfileState } from "../browser/profile-state/profile-state.ts";
import type { InstanceConfig } from "../protocol/protocol.ts";
import type { Telemetry } from "../operations/telemetry/telemetry.ts";
import type { Closing } from "../browser/pages/closing.ts";
import type { ClosingPagesOptions } from "../clients/cdp/closing-pages.ts";
import type { CdpGateway } from "../clients/cdp/gateway.ts";
import type { PlaywrightGateway } from "../clients/playwright/playwright-gateway.ts";
import type { DriverGateway } from "../clients/chromedriver/driver-gateway.ts";
import type { BidiGateway } from "../clients/webdriver/bidi-gateway.ts";
import type { Activity } from "./activity.ts";
import type { AutomationPause } from "../pause/automation-pause.ts";
import { rememberProcessGroups } from "../operations/process/tracking/process-groups.ts";
import { lazyPart, type LazyPart } from "./lazy-part.ts";

/** Parts that most sessions do not need: many use only CDP. */
export interface Parts {
  readonly telemetry: LazyPart<Telemetry>;
  readonly operations: LazyPart<Operations>;
  readonly secrets: TypedSecrets;
  readonly bidi: LazyPart<BidiGateway>;
  readonly driver: LazyPart<DriverGateway>;
  readonly playwright: LazyPart<PlaywrightGateway>;
  readonly liveView: LazyPart<LiveView>;
  readonly profileState: LazyPart<ProfileState>;
}

/** Numbers of connected clients. */
export interface Connections {
  clients: number;
  viewers: number;
}

/** @returns a function that ends the connection; it may be called again. */
export function counted(connections: Connections, kind: keyof Connections, leave: () => void): () => void {
  connections[kind]++;
  let left = false;
  return () => {
    if (!left) connections[kind]--;
    left = true;
    leave();
  };
}

interface PartsOptions {
  readonly config: InstanceConfig;
  readonly browser: BrowserSupervisor;
  readonly activity: Activity;
  readonly forwarder: EgressForwarder;
  readonly gateway: CdpGateway;
  readonly logs: SupervisorLogs;
  readonly display: () => SessionDisplay | undefined;
  readonly pause: AutomationPause;
  readonly connections: Connections;
  readonly pages: Pick<OpenPages, "count">;
  readonly isShared: boolean;
  readonly control: Omit<ControlTargets, "loadTelemetry" | "loadProfileState">;
}

export function createParts(options: PartsOptions): Parts {
  const { activity, browser, config, connections, control, display, forwarder, isShared, logs, pages, pause } = options;
  const secrets = new TypedSecrets();
  const telemetry: LazyPart<Telemetry> = lazyPart(async () => {
    const { Telemetry } = await import("../operations/telemetry/telemetry.ts");
    return new Telemetry({
      root: config.root,
      browser,
      failureOf: (target) => forwarder.failures.of(target),
      onRefusal: (listener) => forwarder.onRefusal(listener),
      hidesContent: () => operations.present?.mayShowSecrets === true,
      secrets,
    });
  });
  const closing = { browser, before: (pages: Closing) => telemetry.present?.pagesClose(pages) };
  options.gateway.followClosing(closing);
  const operations: LazyPart<Operations> = lazyPart(async () => {
    const { Operations } = await import("./operations.ts");
    return new Operations({
      root: {
        directory: config.root,
        home: config.home,
        spoolDirectory: join(config.session_dir, "tmp"),
        refusesLinks: isShared,
      },
      config,
      browser,
      display,
      logs,
      egress: forwarder,
      pause,
      secrets,
      isShared,
      stats: { connections, pages },
      telemetry: { present: () => telemetry.present, load: telemetry.load },
      control: { ...control, loadTelemetry: telemetry.load, loadProfileState: profileState.load },
    });
  });
  const liveView = lazyPart(async () => {
    const { LiveView } = await import("../clients/live-view/live-view.ts");
    return new LiveView({
      browser,
      onViewer: () => counted(connections, "viewers", activity.begin()),
      record: (event) => telemetry.present?.record(event),
      withoutSecrets: (message) => secrets.inAnswer(message),
      personActs: async () => (await operations.load()).personActs(),
    });
  });
  const profileState = lazyPart(async () => {
    const { ProfileState } = await import("../browser/profile-state/profile-state.ts");
    return new ProfileState({ config, browser, secrets });
  });
  return { telemetry, operations, secrets, liveView, profileState, ...createClientParts(options, closing) };
}

function createClientParts(
  options: PartsOptions,
  closing: ClosingPagesOptions,
): Pick<Parts, "bidi" | "driver" | "playwright"> {
  const { activity, browser, config, connections, forwarder, gateway, pause } = options;
  const bidi = lazyPart(async () => {
    const { BidiGateway } = await import("../clients/webdriver/bidi-gateway.ts");
    return new BidiGateway({
      root: config.root,
      endpoint: () => browser.endpoint(),
      downloads: browser.downloads,
      openContextProxy: (proxy) => forwarder.portOf(proxy),
      onClient: () => counted(connections, "clients", activity.begin()),
      closing,
      pause,
      hasDriver: () => driver.present?.isRunning === true,
    });
  });
  const driver = lazyPart(async () => {
    const { DriverGateway } = await import("../clients/chromedriver/driver-gateway.ts");
    return new DriverGateway({
      root: config.root,
      endpoint: () => browser.endpoint(),
      downloads: browser.downloads,
      openContextProxy: (proxy) => forwarder.portOf(proxy),
      pause,
      executable: config.chromium.executable,
      onStarted: rememberProcessGroups(config),
    });
  });
  const playwright = lazyPart(async () => {
    const { PlaywrightGateway } = await import("../clients/playwright/playwright-gateway.ts");
    return new PlaywrightGateway({
      program: process.argv[1] ?? "",
      cacheDir: config.cache_dir,
      root: config.root,
      home: config.home,
      cdp: gateway,
      exitPort: forwarder.port,
      openContextProxy: (proxy) => forwarder.portOf(proxy),
      pause,
      onClient: () => activity.begin(),
    });
  });
  return { bidi, driver, playwright };
}

/** Of other protocols than CDP; without close frames when `reason` is absent. */
export function closeClientsOf({ bidi, driver, playwright }: Parts, code: number, reason: string | undefined): void {
  bidi.ifBegun((gateway) => {
    gateway.closeAll(code, reason);
  });
  for (const part of [driver, playwright])
    part.ifBegun((gateway) => {
      gateway.closeAll();
    });
}
