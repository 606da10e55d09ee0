import type { Placement } from "@shoal/placement";
import { createServer, request as httpRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { withMembers } from "./with-members.ts";

export type Forgery = (response: ServerResponse) => void;

/** The placement with compromised instances. */
export interface ForgingInstances {
  readonly around: (placement: Placement) => Placement;
  /** Applies to all instances from now on. @param at - method and beginning of the path: `GET /_instance/profile`. */
  forge(at: string, forgery: Forgery): void;
  close(): void;
}

export async function forgingInstances(): Promise<ForgingInstances> {
  const forgeries = new Map<string, Forgery>();
  const find = (of: { readonly method?: string | undefined; readonly path?: string | undefined }) =>
    [...forgeries].find(([at]) => `${of.method ?? ""} ${of.path ?? ""}`.startsWith(at))?.[1];
  const forger = createServer((incoming, response) => {
    incoming.resume();
    find({ method: incoming.method, path: incoming.url })?.(response);
  });
  await new Promise<void>((resolve) => forger.listen(0, "127.0.0.1", resolve));
  const { port } = forger.address() as AddressInfo;
  return {
    around: (placement) =>
      withMembers(placement, {
        acquire: async (...given) => {
          const instance = await placement.acquire(...given);
          return withMembers(instance, {
            request: (init, body) => {
              if (find(init) === undefined) return instance.request(init, body);
              return new Promise((resolve, reject) => {
                const { method, path, signal } = init;
                httpRequest({ host: "127.0.0.1", port, method, path, ...(signal && { signal }) }, resolve)
                  .on("error", reject)
                  .end();
              });
            },
          });
        },
      }),
    forge(at, forgery) {
      forgeries.set(at, forgery);
    },
    close() {
      forger.closeAllConnections();
      forger.close();
    },
  };
}
