import { joinChunks } from "@shoal/primitives/node";
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/**
 * Operations may take hours, so the timeout of `headMs` milliseconds begins with the first byte of the head.
 * @throws {Error} if the head is missing or invalid: a status outside 200 to 599, or an upgrade. Closes the connection.
 */
export function answerOf(outgoing: ClientRequest, headMs: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
      clearTimeout(timer);
    };
    const refuse = (why: string): void => {
      settle();
      const error = new Error(why);
      outgoing.destroy(error);
      reject(error);
    };
    const onFirstBytes = (): void => {
      if (isSettled) return;
      timer = setTimeout(() => {
        refuse(`it did not finish the head of its answer within ${String(headMs / 1000)} s`);
      }, headMs);
    };
    outgoing.once("socket", (socket: Socket) => {
      socket.once("data", onFirstBytes);
      outgoing.once("close", () => socket.off("data", onFirstBytes));
    });
    outgoing.on("information", ({ statusCode }) => {
      refuse(`it answered status ${String(statusCode)}, which is not a final status`);
    });
    outgoing.on("upgrade", (answer, socket) => {
      socket.destroy();
      refuse(`it answered status ${String(answer.statusCode)} to a request without an upgrade`);
    });
    outgoing.on("response", (answer) => {
      joinChunks(answer);
      const status = answer.statusCode ?? 0;
      if (status < 200 || status > 599) {
        refuse(`it answered status ${String(status)}, which is invalid`);
        return;
      }
      settle();
      resolve(answer);
    });
    outgoing.on("error", (error) => {
      settle();
      reject(error);
    });
    outgoing.on("close", () => {
      settle();
      reject(new Error("it closed the connection"));
    });
  });
}
