import type {
  ActOnPage,
  ActResult,
  ObservePage,
  PageObservation,
  PageText,
  PrintPage,
  ReadPage,
  ScreenshotPage,
} from "@shoal/schemas";
import type { CallOptions, Download, DownloadOptions } from "@shoal/transport";
import type { BrowserComputer } from "../browser-computer.ts";
import type { BrowserDownloads } from "../browser-downloads.ts";
import type { BrowserFetchInit } from "../browser-fetch.ts";
import type { BrowserFiles } from "../browser-fs.ts";
import type { BrowserHandoff } from "../browser-handoff.ts";
import type { BrowserPlaywright } from "../browser-playwright.ts";
import type { BrowserProcesses } from "../browser-processes.ts";
import type { BrowserReplays } from "../browser-replays.ts";
import type { BrowserTools } from "./browser-tools.ts";

/** The calls behind a session's methods. `Browsers` has them. */
export interface SessionCalls {
  readonly fs: BrowserFiles;
  readonly process: BrowserProcesses;
  readonly playwright: BrowserPlaywright;
  readonly replays: BrowserReplays;
  readonly computer: BrowserComputer;
  readonly downloads: BrowserDownloads;
  readonly handoff: BrowserHandoff;
  readonly tools: BrowserTools;
  observe(browserId: string, body: ObservePage, options?: CallOptions): Promise<PageObservation>;
  act(browserId: string, body: ActOnPage, options?: CallOptions): Promise<ActResult>;
  read(browserId: string, body: ReadPage, options?: CallOptions): Promise<PageText>;
  pdf(browserId: string, body: PrintPage, options?: DownloadOptions): Promise<Download>;
  screenshot(browserId: string, body: ScreenshotPage, options?: DownloadOptions): Promise<Download>;
  fetch(browserId: string, url: string | URL, init?: BrowserFetchInit): Promise<Response>;
  delete(browserId: string, options?: CallOptions): Promise<void>;
}
