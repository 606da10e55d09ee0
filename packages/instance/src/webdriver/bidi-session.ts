import { randomUUID } from "node:crypto";
import { platform } from "node:os";

/** A command that was checked as far as its envelope goes. */
export interface BidiCommand {
  readonly id: number;
  readonly method: string;
  readonly params: object;
  readonly "goog:channel"?: unknown;
}

type Answer = Readonly<Record<string, unknown>>;

const platformNames: Partial<Record<NodeJS.Platform, string>> = { darwin: "mac", linux: "linux", win32: "windows" };

/**
 * The WebDriver session of one BiDi connection, as WebDriver BiDi describes it. The mapper is made for one that is open already: it knows neither `session.end` nor
 * an id, and reports Chromium's product as the browser's name.
 */
export class BidiSession {
  readonly #close: () => void;
  #id: string | undefined;
  /** Id of the `session.new` that is being answered. */
  #opening: number | undefined;

  /** @param close - ends the connection once what was sent is on its way. */
  constructor(close: () => void) {
    this.#close = close;
  }

  /** @returns the answer to a command that is not the mapper's. */
  answer({ id, method }: BidiCommand): Answer | undefined {
    switch (method) {
      case "session.status":
        return success(id, this.#isOpen ? { ready: false, message: "This connection has a session." } : { ready: true, message: "" });
      case "session.end":
        if (!this.#isOpen) return failure(id, "invalid session id", "This connection has no session. Send session.new first.");
        this.#close();
        return success(id, {});
      case "session.new":
        if (this.#isOpen) return failure(id, "session not created", "This connection has a session. Send session.end, and connect again.");
        this.#opening = id;
        return undefined;
      default:
        return undefined;
    }
  }

  /** @returns what a client gets of a message of the mapper. */
  complete(message: object): object {
    const { id, type, result } = message as Answer;
    if (id === undefined || id !== this.#opening) return message;
    this.#opening = undefined;
    if (type !== "success") return message;
    this.#id = randomUUID();
    const { capabilities, ...rest } = result as { readonly capabilities?: Answer };
    return { ...message, result: { ...rest, sessionId: this.#id, capabilities: describe(capabilities ?? {}) } };
  }

  get #isOpen(): boolean {
    return this.#id !== undefined || this.#opening !== undefined;
  }
}

/** `HeadlessChrome/156.0.8078.79` is `chrome`, as drivers name it, and a version. */
function describe({ browserName, webSocketUrl: _, ...capabilities }: Answer): Answer {
  const version = /\/([\d.]+)/.exec(String(browserName))?.[1] ?? "";
  return { ...capabilities, browserName: "chrome", browserVersion: version, platformName: platformNames[platform()] ?? platform() };
}

function success(id: number, result: object): Answer {
  return { type: "success", id, result };
}

function failure(id: number, error: string, message: string): Answer {
  return { type: "error", id, error, message };
}
