import { expect, it } from "vitest";
import { checkPrivateHosts } from "./private-hosts.ts";

it.each([
  "10.0.0.0/8",
  "10.1.2.3",
  "10.1.2.3:8080",
  "192.168.4.0/22",
  "127.0.0.1",
  "fd00::/8",
  "fd00::1",
  "intranet",
  "db.local:5432",
])("accepts %s", (host) => {
  expect(checkPrivateHosts([host])).toBeUndefined();
});

it.each([
  ["8.8.8.0/24", "is not private"],
  ["8.8.8.8", "is not private"],
  ["0.0.0.0/0", "is not private"],
  ["10.0.0.0/4", "has bits after its prefix; write 0.0.0.0/4"],
  ["2001:4860::/32", "is not private"],
  ["10.0.0.5/8", "write 10.0.0.0/8 for the range, or 10.0.0.5 for the address"],
  ["192.168.4.1/22", "write 192.168.4.0/22"],
  ["fd00::1/64", "write fd00::/64"],
])("refuses %s", (host, problem) => {
  expect(checkPrivateHosts(["10.0.0.0/8", host])).toMatch(new RegExp(`^private_hosts\\[1\\]: .*${problem}`));
});
