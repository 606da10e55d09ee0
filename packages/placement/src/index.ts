export { answerText } from "./answer-text.ts";
export { BoundedBytes } from "./bounded-bytes.ts";
export { Pace } from "./pace.ts";
export { findChromium, type ChromiumKind, type ChromiumSource, type FoundChromium } from "./chromium.ts";
export { createPlacement } from "./create-placement.ts";
export { checkPrivateHosts } from "./private-hosts.ts";
export { createEgressProbe, type EgressProbe, type EgressProbeResult } from "./egress-probe.ts";
export { createOutboundRule, type OutboundDecision, type OutboundRule } from "./outbound-rule.ts";
export type { EgressTraffic } from "./egress-gateway.ts";
export type { EgressUpstream } from "./egress-upstream.ts";
export { examineHost, type HostFinding, type HostReport } from "./examine-host.ts";
export type {
  ChromePolicies,
  Instance,
  InstanceEnd,
  InstanceRequest,
  Placement,
  PlacementAbilities,
  PlacementKind,
  PlacementLog,
  PlacementMemory,
  PlacementOptions,
  SessionSurroundings,
} from "./placement.ts";
export { PlacementError, type PlacementErrorCode } from "./placement-error.ts";
