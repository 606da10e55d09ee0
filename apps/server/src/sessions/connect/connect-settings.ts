import { checkedBody, nearMatch, ServiceError } from "@shoal/router";
import { CreateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";
import { readLaunch } from "./launch-options.ts";

export interface ConnectSettings {
  /** The session to create. */
  readonly create: z.output<typeof CreateBrowser>;
  /** A running session to join instead. */
  readonly sessionId: string | undefined;
  /** For a place for the session. */
  readonly waitMs: number;
}

interface Draft {
  readonly body: Record<string, unknown>;
  sessionId: string | undefined;
  keepAlive: boolean;
  waitSeconds: number;
}

type Setting = (draft: Draft, value: string, name: string) => void;

/** For a reconnect after a network fault. */
const disconnectTimeoutSeconds = 10;
/** If the client goes while its session starts. */
const connectTimeoutSeconds = 60;
const defaultWaitSeconds = 30;
const maxWaitSeconds = 300;
const shortestSessionSeconds = 10;

const truth: ReadonlyMap<string, boolean> = new Map([
  ["", true],
  ["1", true],
  ["true", true],
  ["0", false],
  ["false", false],
]);

function flagIn(value: string, name: string): boolean {
  const flag = truth.get(value.toLowerCase());
  if (flag === undefined) throw invalid(name, "write true or false");
  return flag;
}

function wholeIn(value: string, name: string): number {
  if (!/^\d{1,12}$/.test(value)) throw invalid(name, "write a whole number");
  return Number(value);
}

const text: Setting = ({ body }, value, name) => (body[name] = value);
const flag: Setting = ({ body }, value, name) => (body[name] = flagIn(value, name));
const whole: Setting = ({ body }, value, name) => (body[name] = wholeIn(value, name));

/** Adds to an object, such as `profile` or `network`, that several settings fill. */
function into(object: string, field: string, read: (value: string, name: string) => unknown = String): Setting {
  return ({ body }, value, name) => {
    const present = body[object] as Record<string, unknown> | undefined;
    body[object] = { ...present, [field]: read(value, name) };
  };
}

const listIn = (value: string): string[] => value.split(",").filter((entry) => entry !== "");

const session: Setting = (draft, value) => (draft.sessionId = value);

const settings: Readonly<Record<string, Setting>> = {
  acquire_timeout_seconds: (draft, value, name) => (draft.waitSeconds = wholeIn(value, name)),
  allow: into("network", "allow", listIn),
  allowed_hosts: into("network", "allowed_hosts", listIn),
  connect_timeout_seconds: whole,
  deny: into("network", "deny", listIn),
  disconnect_timeout_seconds: whole,
  extensions: ({ body }, value) => (body.extensions = listIn(value).map((name) => ({ name }))),
  headless: flag,
  isolation: text,
  keep_alive: (draft, value, name) => (draft.keepAlive = flagIn(value, name)),
  kiosk_mode: flag,
  launch: ({ body }, value) => Object.assign(body, readLaunch(value)),
  max_duration_seconds: whole,
  memory: text,
  name: text,
  private_hosts: into("network", "private_hosts", listIn),
  profile: into("profile", "name"),
  profile_id: into("profile", "id"),
  profile_save_changes: into("profile", "save_changes", flagIn),
  proxy: into("proxy", "name"),
  proxy_id: text,
  recording: into("recording", "video", flagIn),
  region: text,
  session_id: session,
  sessionId: session,
  sleep_after_seconds: whole,
  start_url: text,
  stealth: flag,
  // Milliseconds, as other services count.
  timeout: ({ body }, value, name) =>
    (body.max_duration_seconds = Math.max(shortestSessionSeconds, Math.ceil(wholeIn(value, name) / 1000))),
  timeout_seconds: whole,
  viewport({ body }, value, name) {
    const [, width, height, rate] = /^(\d{1,5})[x,](\d{1,5})(?:@(\d{1,3}))?$/.exec(value) ?? [];
    if (width === undefined) throw invalid(name, "write it as 1280x720");
    body[name] = {
      width: Number(width),
      height: Number(height),
      ...(rate !== undefined && { refresh_rate: Number(rate) }),
    };
  },
};

/** `tags.team=docs` */
const tagPrefix = "tags.";

function invalid(field: string, problem: string): ServiceError {
  return new ServiceError(400, "bad_request", problem, { field: field.slice(0, 100) });
}

function unknown(name: string): ServiceError {
  const known = Object.keys(settings);
  const near = nearMatch(name, known);
  return new ServiceError(400, "bad_request", `${JSON.stringify(name.slice(0, 100))} is not a setting of an address.`, {
    hint: `${near === undefined ? "" : `Did you mean ${near}? `}Settings are: ${known.join(", ")}, tags.NAME.`,
  });
}

/**
 * Reads the settings of a connection address. Unknown ones are refused: they may decide where traffic goes.
 * @throws {ServiceError} 400 that names the setting.
 */
export function readConnectSettings(query: URLSearchParams): ConnectSettings {
  const draft: Draft = { body: {}, sessionId: undefined, keepAlive: false, waitSeconds: defaultWaitSeconds };
  const seen = new Set<string>();
  for (const [name, value] of query) {
    if (seen.has(name)) throw invalid(name, "it is in the address twice");
    seen.add(name);
    if (name.startsWith(tagPrefix)) into("tags", name.slice(tagPrefix.length))(draft, value, name);
    else if (Object.hasOwn(settings, name)) settings[name]?.(draft, value, name);
    else throw unknown(name);
  }
  const { body, keepAlive, sessionId, waitSeconds } = draft;
  if (waitSeconds > maxWaitSeconds)
    throw invalid("acquire_timeout_seconds", `at most ${String(maxWaitSeconds)} are possible`);
  const [first] = Object.keys(body);
  if (sessionId !== undefined && first !== undefined)
    throw invalid(first, "a running session keeps its settings; leave it out, or leave out sessionId");
  if (!keepAlive) {
    body.disconnect_timeout_seconds ??= disconnectTimeoutSeconds;
    body.connect_timeout_seconds ??= connectTimeoutSeconds;
  }
  return { create: checkedCreate(body), sessionId, waitMs: waitSeconds * 1000 };
}

function checkedCreate(body: Record<string, unknown>): ConnectSettings["create"] {
  try {
    return checkedBody(CreateBrowser, body, "refuse");
  } catch (error) {
    if (!ServiceError.isInstance(error)) throw error;
    const { field = "", hint, limit, problem } = error;
    const setting = field.replace(/^body\.?/, "");
    throw new ServiceError(error.status, error.code, problem, {
      ...(setting !== "" && { field: setting }),
      hint,
      limit,
    });
  }
}
