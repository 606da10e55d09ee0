import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/**
 * Waits for the answer of an instance. Code in a box controls every byte of it: an answer that no HTTP client may get is refused here, and the
 * connection ended. An operation may take hours, so the time counts only from the first byte of the answer to the end of its head.
 *
 * @param headMs - in milliseconds.
 * @throws {Error} when there is none, or its head is not valid: a status outside 200 to 599, a 1xx, an upgrade.
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
        refuse(`it began an answer and did not finish its head within ${String(headMs / 1000)} s`);
      }, headMs);
    };
    outgoing.once("socket", (socket: Socket) => {
      socket.once("data", onFirstBytes);
      outgoing.once("close", () => socket.off("data", onFirstBytes));
    });
    outgoing.on("information", ({ statusCode }) => {
      refuse(`it answered status ${String(statusCode)}, which is not a final one`);
    });
    outgoing.on("upgrade", (answer, socket) => {
      socket.destroy();
      refuse(`it answered status ${String(answer.statusCode)} to a request without an upgrade`);
    });
    outgoing.on("response", (answer) => {
      const status = answer.statusCode ?? 0;
      if (status < 200 || status > 599) {
        refuse(`it answered status ${String(status)}, which HTTP does not have`);
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
