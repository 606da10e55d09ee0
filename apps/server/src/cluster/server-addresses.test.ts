import { expect, it } from "vitest";
import { ServerAddresses } from "./server-addresses.ts";

it("lists the addresses that the operator names", () => {
  const addresses = new ServerAddresses(["203.0.113.0/28"]);
  expect(addresses.list()).toEqual(["203.0.113.0/28"]);
});

it("lists the registered address and the interfaces of each other server, as they change", () => {
  const addresses = new ServerAddresses();
  expect(addresses.list()).toEqual([]);
  const peers = new Map([
    ["a", { id: "a", life: "1", region: null, address: "http://[2606:4700::9]:8080", addresses: ["93.184.215.9"] }],
    ["b", { id: "b", life: "1", region: null, address: null, addresses: [] }],
  ]);
  addresses.follow(peers);
  expect(addresses.list()).toEqual(["93.184.215.9", "2606:4700::9"]);
  peers.set("b", { id: "b", life: "2", region: null, address: "http://shoal-b:8080", addresses: ["93.184.215.10"] });
  expect(addresses.list()).toEqual(["93.184.215.9", "2606:4700::9", "93.184.215.10"]);
  peers.delete("a");
  expect(addresses.list()).toEqual(["93.184.215.10"]);
});
