import { randomUUID } from "node:crypto";
import { platform } from "node:os";

export interface BidiCommand {
  readonly id: number;
  readonly method: string;
  readonly params: object;
  readonly "goog:channel"?: unknown;
}

type Answer = Readonly<Record<string, unknown>>;

const platformNames: Partial<Record<NodeJS.Platform, string>> = { darwin: "mac", linux: "linux", win32: "windows" };

/** The mapper supports neither `session.end` nor a session id, and names Chromium's product. */
export class BidiSession {
  readonly #close: () => void;
  #id: string | undefined;
  #opening: number | undefined;

  /** @param close - closes the connection after pending data was sent. */
  constructor(close: () => void) {
    this.#close = close;
  }

  /** The session exists already. */
  join(): void {
    this.#id = randomUUID();
  }

  answer({ id, method }: BidiCommand): Answer | undefined {
    switch (method) {
      case "session.status":
        return success(
          id,
          this.#isOpen ? { ready: false, message: "This connection has a session." } : { ready: true, message: "" },
        );
      case "session.end":
        if (!this.#isOpen)
          return failure(id, "invalid session id", "This connection has no session. Send session.new first.");
        this.#close();
        return success(id, {});
      case "session.new":
        if (this.#isOpen)
          return failure(
            id,
            "session not created",
            "This connection has a session. Send session.end, and connect again.",
          );
        this.#opening = id;
        return undefined;
      default:
        return undefined;
    }
  }

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

/** Splits `HeadlessChrome/156.0.8078.79` into the name that drivers use, `chrome`, and a version. */
function describe({ browserName, webSocketUrl: _, ...capabilities }: Answer): Answer {
  const version = /\/([\d.]+)/.exec(String(browserName))?.[1] ?? "";
  return {
    ...capabilities,
    browserName: "chrome",
    browserVersion: version,
    platformName: platformNames[platform()] ?? platform(),
  };
}

function success(id: number, result: object): Answer {
  return { type: "success", id, result };
}

function failure(id: number, error: string, message: string): Answer {
  return { type: "error", id, error, message };
}
