import Kernel from "@onkernel/sdk";
import { Shoal } from "@shoal/client";
import ky from "ky";
import { startBareServer } from "./bare-server.ts";
import type { Figure } from "./figures.ts";
import { interleaved } from "./rounds.ts";

const profile = { id: "prof_k3f9a1b2c3d4e5f6g7h8i9j0", name: "work", created_at: "2026-01-31T12:00:00.000Z", updated_at: "2026-01-31T12:00:00.000Z" };

/** CPU and time of this process a call of `profiles.get`, against three others that get the same JSON from the same server. */
export async function measureClientCall(calls: number): Promise<Figure[]> {
  const server = await startBareServer({ json: JSON.stringify(profile) });
  try {
    const key = "sk_0123456789abcdef";
    const headers = { authorization: `Bearer ${key}` };
    const url = `${server.url}/profiles/${profile.id}`;
    const shoal = new Shoal({ baseUrl: server.url, apiKey: key });
    const kernel = new Kernel({ baseURL: server.url, apiKey: key });
    const repeat = (call: () => Promise<unknown>) => async () => {
      for (let count = 0; count < calls; count++) await call();
    };
    const works = {
      shoal: repeat(() => shoal.profiles.get(profile.id)),
      fetch: repeat(async () => JSON.parse(await (await fetch(url, { headers })).text()) as unknown),
      ky: repeat(() => ky(url, { headers }).json()),
      kernel: repeat(() => kernel.profiles.retrieve(profile.id)),
    };
    await interleaved(1, works);
    const costs = await interleaved(7, works);
    const figure = (of: "cpuMs" | "wallMs", peer: "fetch" | "ky" | "kernel", target?: string): Figure => ({
      name: `profiles.get, ${of === "cpuMs" ? "CPU" : "time"} a call`,
      unit: "µs",
      ours: (costs.shoal[of] * 1000) / calls,
      peer: (costs[peer][of] * 1000) / calls,
      peerName: { fetch: "bare fetch, JSON.parse", ky: "ky", kernel: "@onkernel/sdk" }[peer],
      ...(target !== undefined && { target }),
    });
    return [
      figure("cpuMs", "fetch", "<= 1.7"),
      figure("cpuMs", "ky"),
      figure("cpuMs", "kernel", "<= 0.9"),
      figure("wallMs", "fetch"),
      figure("wallMs", "ky"),
      figure("wallMs", "kernel"),
    ];
  } finally {
    server.stop();
  }
}
