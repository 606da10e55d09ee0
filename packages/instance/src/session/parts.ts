import { join } from "node:path";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import type { SessionDisplay } from "../display/session-display.ts";
import type { EgressForwarder } from "../egress-forwarder.ts";
import type { LiveView } from "../live-view/live-view.ts";
import type { SupervisorLogs } from "../logs/supervisor-logs.ts";
import type { Operations } from "../operations.ts";
import type { ProfileState } from "../profile-state/profile-state.ts";
import type { InstanceConfig } from "../protocol.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import type { BidiGateway } from "../webdriver/bidi-gateway.ts";
import type { Activity } from "./activity.ts";
import { lazyPart, type LazyPart } from "./lazy-part.ts";

/** What most sessions do without: many are used over CDP alone. */
export interface Parts {
  readonly telemetry: LazyPart<Telemetry>;
  readonly operations: LazyPart<Operations>;
  /** WebDriver BiDi. */
  readonly bidi: LazyPart<BidiGateway>;
  readonly liveView: LazyPart<LiveView>;
  readonly profileState: LazyPart<ProfileState>;
}

interface PartsOptions {
  readonly config: InstanceConfig;
  readonly browser: BrowserSupervisor;
  readonly activity: Activity;
  readonly forwarder: EgressForwarder;
  readonly logs: SupervisorLogs;
  /** The screen of a browser with a window. */
  readonly display: () => SessionDisplay | undefined;
}

/** The parts of one session; none is loaded yet. */
export function createParts({ config, browser, activity, forwarder, logs, display }: PartsOptions): Parts {
  const telemetry = lazyPart(async () => {
    const { createTelemetry } = await import("../telemetry/telemetry.ts");
    return createTelemetry({ root: config.root, browser, failureOf: (target) => forwarder.failures.of(target) });
  });
  const operations = lazyPart(async () => {
    const { createOperations } = await import("../operations.ts");
    return createOperations({
      root: { directory: config.root, home: config.home, spoolDirectory: join(config.session_dir, "tmp") },
      config,
      browser,
      display,
      logs,
      egress: forwarder,
      telemetry: { present: () => telemetry.present, load: telemetry.load },
    });
  });
  const bidi = lazyPart(async () => {
    const { createBidiGateway } = await import("../webdriver/bidi-gateway.ts");
    return createBidiGateway({
      root: config.root,
      endpoint: () => browser.endpoint(),
      downloads: browser.downloads,
      openContextProxy: (proxy) => forwarder.portOf(proxy),
      onClient: () => activity.begin(),
    });
  });
  const liveView = lazyPart(async () => {
    const { createLiveView } = await import("../live-view/live-view.ts");
    return createLiveView({ browser, onViewer: () => activity.begin(), record: (event) => telemetry.present?.record(event) });
  });
  const profileState = lazyPart(async () => {
    const { createProfileState } = await import("../profile-state/profile-state.ts");
    return createProfileState({ config, browser });
  });
  return { telemetry, operations, bidi, liveView, profileState };
}
