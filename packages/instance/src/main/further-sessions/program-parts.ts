import type { BrowserEvents, BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { EgressForwarder } from "../../egress/forwarder.ts";
import type { InstanceConfig } from "../../protocol/protocol.ts";

export interface ProgramParts {
  readonly config: InstanceConfig;
  readonly forwarder: EgressForwarder;
  readonly superviseBrowser: (events: BrowserEvents) => BrowserSupervisor;
  /** Whether other sessions share the browser and this process. */
  readonly isShared: boolean;
  /** Called once the session listens. */
  readonly onListening: () => void;
  /** Called once nothing of the session runs. */
  readonly onShutDown: () => void;
}

/** One session in this process. */
export interface SessionProgram {
  listen(): void;
  /** Begins the end of the session; `onShutDown` follows. */
  end(): void;
}
