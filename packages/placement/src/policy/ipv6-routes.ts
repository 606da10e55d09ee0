import { type IpAddress, isInRange, isIpv4, parseIpRange } from "@shoal/primitives/hosts";
import { readFile } from "node:fs/promises";

const routesFile = "/proc/net/ipv6_route";
/** RTF_LOCAL and RTF_ANYCAST: the kernel delivers packets to these addresses itself. */
const deliveredHere = 0x8000_0000 | 0x0010_0000;

/**
 * Whether a local route of Linux covers an IPv6 address (AnyIP). Without one, an address of the machine is on an
 * interface. For IPv4, the source address of a connection shows it.
 */
export async function hasLocalIpv6Route(address: IpAddress): Promise<boolean> {
  if (isIpv4(address) || process.platform !== "linux") return false;
  let table: string;
  try {
    table = await readFile(routesFile, "latin1");
  } catch {
    // A kernel without IPv6.
    return false;
  }
  return table.split("\n").some((line) => covers(line, address));
}

/** A line: destination, length of its prefix, source and its length, next hop, metric, uses, flags, device. */
function covers(line: string, address: IpAddress): boolean {
  const [network = "", length = "", , , , , , , flags = ""] = line.split(/ +/);
  if ((Number.parseInt(flags, 16) & deliveredHere) === 0) return false;
  const text = network.match(/.{4}/g)?.join(":") ?? "";
  const range = parseIpRange(`${text}/${String(Number.parseInt(length, 16))}`);
  return range !== undefined && isInRange(address, range);
}
