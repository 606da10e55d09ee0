import { clearPlacements } from "./placements.ts";
import { endServers } from "./servers.ts";

export async function afterTest(): Promise<void> {
  try {
    await endServers();
  } finally {
    await clearPlacements();
  }
}
