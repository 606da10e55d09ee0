import { messageOf } from "@shoal/primitives";
import type { IncomingMessage, RequestListener } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { CdpGateway } from "../clients/cdp/gateway.ts";
import { refuseCommand } from "../clients/chromedriver/driver-answer.ts";
import { isPassive } from "../http/passive-requests.ts";
import { log } from "../system/log.ts";
import { type AutomationPause, handoffRefusal } from "../pause/automation-pause.ts";
import type { Activity } from "./activity.ts";
import type { Parts } from "./parts.ts";
import { sharedHint } from "./further-sessions/shared-operations.ts";
import { pathOf, refuse, refuseUpgrade, type Refusal } from "../http/replies.ts";

interface UpgradeOptions {
  readonly gateway: CdpGateway;
  readonly activity: Activity;
  readonly parts: Pick<Parts, "bidi" | "liveView" | "operations" | "playwright">;
  /** Programs of a terminal can reach the browser. */
  readonly pause: AutomationPause;
  /** Whether other sessions share the browser. */
  readonly isShared: boolean;
  readonly isEnding: () => boolean;
}

export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export function createUpgrades({
  gateway,
  activity,
  parts,
  pause,
  isShared,
  isEnding,
}: UpgradeOptions): UpgradeListener {
  async function join(
    what: string,
    request: IncomingMessage,
    socket: Socket,
    upgrade: () => Promise<Refusal | undefined>,
  ): Promise<void> {
    try {
      const refusal = await upgrade();
      if (refusal !== undefined) refuseUpgrade(request, socket, refusal);
    } catch (error) {
      log("error", `${what} could not be loaded`, { error: String(error) });
      socket.destroy();
    }
  }

  return (request, socket, head) => {
    // The types of node:http are wider: the connection is always a Socket.
    if (!(socket instanceof Socket)) {
      socket.destroy();
      return;
    }
    socket.on("error", () => undefined);
    const path = pathOf(request);
    if (isEnding())
      refuseUpgrade(request, socket, { status: 503, code: "shutting_down", message: "This instance is ending." });
    else if (path === "/cdp" || path.startsWith("/devtools/")) gateway.upgrade(request, socket, head);
    else if (isShared && (path.startsWith("/process/") || path === "/webdriver" || path === "/playwright"))
      refuseUpgrade(request, socket, notShared(path));
    else if (path.startsWith("/process/") && pause.isActive) refuseUpgrade(request, socket, handoffRefusal);
    else if (path.startsWith("/process/")) {
      socket.on("close", activity.begin());
      void join("terminals", request, socket, async () => {
        const [{ processes }, { attachTo }] = await Promise.all([
          parts.operations.load(),
          import("../operations/process/attach.ts"),
        ]);
        return attachTo(request, socket, head, { path, pause, processes });
      });
    } else if (path === "/webdriver")
      void join("WebDriver BiDi", request, socket, async () =>
        (await parts.bidi.load()).upgrade(request, socket, head),
      );
    else if (path === "/playwright")
      void join("Playwright's protocol", request, socket, async () =>
        (await parts.playwright.load()).upgrade(request, socket, head),
      );
    else if (path === "/live-view")
      void join("the live view", request, socket, async () =>
        (await parts.liveView.load()).upgrade(request, socket, head),
      );
    else
      refuseUpgrade(request, socket, {
        status: 404,
        code: "not_found",
        message: `No WebSocket endpoint has the path ${path.slice(0, 200)}.`,
      });
  };
}

const notShareable: ReadonlyMap<string, string> = new Map([
  ["/webdriver", "WebDriver BiDi"],
  ["/playwright", "Playwright's own protocol"],
]);

function notShared(path: string): Refusal {
  const what = notShareable.get(path) ?? "a terminal";
  return {
    status: 400,
    code: "bad_request",
    message: `isolation: ${what} is not available with isolation: "context". ${sharedHint}`,
    field: "isolation",
    hint: sharedHint,
  };
}

interface RequestOptions {
  readonly activity: Activity;
  readonly parts: Pick<Parts, "driver" | "operations">;
  /** Whether other sessions share the browser. */
  readonly isShared: boolean;
  readonly isEnding: () => boolean;
}

const driverPrefix = "/wd/";
const ending: Refusal = { status: 503, code: "shutting_down", message: "This session is ending." };
const notSharedDriver: Refusal = {
  status: 400,
  code: "bad_request",
  message: `isolation: WebDriver is not available with isolation: "context". ${sharedHint}`,
};

/** Answers operations, and commands of WebDriver. */
export function createRequests({ activity, isEnding, isShared, parts }: RequestOptions): RequestListener {
  return (request, response) => {
    const isCommand = pathOf(request).startsWith(driverPrefix);
    if (isEnding()) {
      if (isCommand) refuseCommand(response, ending);
      else refuse(response, ending);
      return;
    }
    if (isCommand && isShared) {
      refuseCommand(response, notSharedDriver);
      return;
    }
    if (!isPassive(request)) response.on("close", activity.begin());
    const part = isCommand ? parts.driver : parts.operations;
    part.load().then(
      (loaded) => {
        void loaded.handle(request, response);
      },
      (error: unknown) => {
        log("error", "the operations could not be loaded", { error: messageOf(error) });
        response.destroy();
      },
    );
  };
}
