import type { Instance, Placement } from "@shoal/placement";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { withMembers } from "./with-members.ts";

/** Instances that never return their state at the end of a session. */
export interface StuckSaves extends AsyncDisposable {
  readonly around: (placement: Placement) => Placement;
  /** `silent` = no answer; `trickle` = an endless answer. */
  behave(how: "silent" | "trickle"): void;
  asked(): number;
}

/** A fake server answers the last request to each real instance. */
export async function stuckSaves(): Promise<StuckSaves> {
  let how: "silent" | "trickle" = "silent";
  let asked = 0;
  const server: Server = createServer((_request, response) => {
    asked += 1;
    if (how === "silent") return;
    response.writeHead(200, { "content-type": "application/zstd" });
    const timer = setInterval(() => response.write("x"), 50);
    response.on("close", () => {
      clearInterval(timer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  function stuck(instance: Instance): Instance {
    const ask: Instance["request"] = (init, body) => {
      if (init.path !== "/_instance/profile/final") return instance.request(init, body);
      return new Promise((resolve, reject) => {
        const sent = request({ port, method: "POST", ...(init.signal && { signal: init.signal }) }, resolve);
        sent.on("error", reject);
        sent.end();
      });
    };
    return withMembers(instance, { request: ask });
  }

  return {
    around: (placement) =>
      withMembers(placement, { acquire: async (...given) => stuck(await placement.acquire(...given)) }),
    behave(next) {
      how = next;
    },
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
