import type { SessionSurroundings } from "../interface/placement.ts";
import type { InstanceHandle } from "./instance-handle.ts";

/** Before the session begins, so that its first request is subject to all of this. */
export async function prepareInstance(handle: InstanceHandle, surroundings: SessionSurroundings): Promise<void> {
  const { upstream, policies, privateHosts, proxyRoutes, exitHeaders, rules = {}, memoryBytes, project } = surroundings;
  const { locale, signer } = surroundings;
  if (project !== undefined) handle.setProject(project);
  if (upstream !== undefined) handle.setUpstream(upstream);
  if (privateHosts !== undefined) handle.setPrivateHosts(privateHosts);
  handle.setRules("project", rules.project);
  handle.setRules("session", rules.session);
  if (proxyRoutes !== undefined) handle.setProxyRoutes(proxyRoutes);
  if (exitHeaders !== undefined) handle.setExitHeaders(exitHeaders);
  if (signer !== undefined) handle.setSigner(signer);
  if (policies !== undefined) await handle.setPolicies(policies);
  if (locale !== undefined) await handle.setLocale(locale);
  if (memoryBytes !== undefined) await handle.setMemory(memoryBytes);
}
