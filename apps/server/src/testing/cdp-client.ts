export interface CdpClient {
  /** @param sessionId - of an attached target; default: the browser itself. */
  send(method: string, params?: object, sessionId?: unknown): Promise<Record<string, unknown>>;
  /** Resolves when either side closes the connection. */
  readonly closed: Promise<void>;
  close(): void;
}

export async function connectCdp(url: string): Promise<CdpClient> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  const closed = Promise.withResolvers<undefined>();
  let lastId = 0;
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown> };
    if (id !== undefined) waiting.get(id)?.resolve(result ?? {});
  });
  socket.addEventListener("close", () => {
    for (const { reject } of waiting.values()) reject(new Error("The connection ended."));
    closed.resolve(undefined);
  });
  const opened = Promise.withResolvers<undefined>();
  socket.addEventListener("open", () => {
    opened.resolve(undefined);
  });
  socket.addEventListener("error", () => {
    opened.reject(new Error("The connection was refused."));
  });
  await opened.promise;
  return {
    closed: closed.promise,
    send(method, params = {}, sessionId) {
      const id = (lastId += 1);
      const answer = Promise.withResolvers<Record<string, unknown>>();
      waiting.set(id, answer);
      socket.send(JSON.stringify({ id, method, params, sessionId }));
      return answer.promise;
    },
    close() {
      socket.close();
    },
  };
}
