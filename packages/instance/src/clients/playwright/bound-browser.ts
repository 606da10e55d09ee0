import type { Browser } from "playwright-core";
import { type ContextProxy, readContextProxy } from "../../egress/context-proxy.ts";

/** The objects of Playwright's server half that clients reach, as far as they have to be limited. */
export interface ServerBrowser {
  readonly attribution: {
    readonly playwright: { readonly options: { isServer?: boolean; isClientCollocatedWithServer?: boolean } };
  };
  readonly options: { proxy?: Proxy };
  readonly _defaultContext: ServerContext | null;
  newContext(progress: unknown, options: ContextOptions): Promise<ServerContext>;
  startServer(...args: unknown[]): Promise<unknown>;
  stopServer(...args: unknown[]): Promise<unknown>;
}

interface ServerContext {
  readonly fetchRequest: {
    fetch(...args: unknown[]): Promise<unknown>;
    _defaultOptions(): object;
  };
}

interface ContextOptions {
  readonly clientCertificates?: readonly unknown[];
  readonly proxy?: Proxy & { readonly bypass?: string };
  /** Each page's file is in the folder of the client. */
  recordVideo?: { dir?: string };
}

interface Proxy {
  readonly server: string;
  readonly username?: string;
  readonly password?: string;
}

/** Waits while a person has the session. Returns the port of the egress forwarder. @throws why the request may not leave. */
export type AdmitRequest = (proxy: ContextProxy | undefined) => Promise<number>;

export interface ServerBrowserLimits {
  readonly hasVideos: boolean;
  readonly exitPort: number;
  readonly admit: AdmitRequest;
}

/** @throws if this version of Playwright has other objects. */
export function serverBrowserOf(browser: Browser): ServerBrowser {
  const { _connection: connection } = browser as unknown as {
    _connection?: { toImpl?: (object: unknown) => unknown };
  };
  const found = connection?.toImpl?.(browser) as Partial<ServerBrowser> | undefined;
  const context = found?._defaultContext;
  if (
    typeof found?.newContext !== "function" ||
    typeof found.startServer !== "function" ||
    typeof found.stopServer !== "function" ||
    found.attribution?.playwright.options === undefined ||
    typeof context?.fetchRequest.fetch !== "function" ||
    typeof context.fetchRequest._defaultOptions !== "function"
  )
    throw new Error("This version of playwright-core has other objects: adapt bound-browser.ts.");
  return found as ServerBrowser;
}

/** Call it before a client is connected. Requests of API request contexts leave through the egress forwarder. */
export function limitServerBrowser(browser: ServerBrowser, limits: ServerBrowserLimits): void {
  const { options } = browser.attribution.playwright;
  // Clients are on other machines: no tools for local files, and no paths of files to upload.
  options.isServer = true;
  options.isClientCollocatedWithServer = false;
  browser.options.proxy = { server: addressOf(limits.exitPort) };
  if (browser._defaultContext !== null) limitRequests(browser._defaultContext, undefined, limits);
  const create = browser.newContext.bind(browser);
  browser.newContext = async (progress, wanted) => {
    refuseOptions(wanted, limits);
    // The folder is one of the client's machine.
    delete wanted.recordVideo?.dir;
    const context = await create(progress, wanted);
    limitRequests(context, wanted.proxy, limits);
    return context;
  };
}

/** Call it when the server of the client is open: it closes with the browser's connection. */
export function refuseOtherServers(browser: ServerBrowser): void {
  const refuse = () =>
    Promise.reject(new Error("browser.bind and browser.unbind are not available over this connection."));
  browser.startServer = refuse;
  browser.stopServer = refuse;
}

function refuseOptions(
  { clientCertificates, recordVideo }: ContextOptions,
  { hasVideos }: Pick<ServerBrowserLimits, "hasVideos">,
): void {
  if (recordVideo !== undefined && !hasVideos)
    throw new Error(
      "recordVideo needs ffmpeg where the session runs. Install it, or record the session with browsers.replays.start.",
    );
  if (clientCertificates !== undefined && clientCertificates.length > 0)
    throw new Error("clientCertificates are not available over this connection: they would stay in the session.");
}

function limitRequests(
  { fetchRequest }: ServerContext,
  wanted: ContextOptions["proxy"],
  { admit, exitPort }: ServerBrowserLimits,
): void {
  const read = wanted === undefined ? undefined : readContextProxy(wanted.server, wanted.bypass);
  const fetch = fetchRequest.fetch.bind(fetchRequest);
  const defaults = fetchRequest._defaultOptions.bind(fetchRequest);
  let port = exitPort;
  fetchRequest._defaultOptions = () => ({ ...defaults(), proxy: { ...wanted, server: addressOf(port), bypass: "" } });
  fetchRequest.fetch = async (...args) => {
    if (read !== undefined && "problem" in read) throw new Error(read.problem);
    port = await admit(read);
    return fetch(...args);
  };
}

const addressOf = (port: number): string => `http://127.0.0.1:${String(port)}`;
