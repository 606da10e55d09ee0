export { AllowedHosts, readAllowedHosts } from "./allowed-hosts.ts";
export {
  type HeaderHost,
  headerHostOf,
  headerHostText,
  isSameSite,
  isWithinHost,
  overlappingHost,
  readHeaderHost,
} from "./header-hosts.ts";
export { canonicalName, hostAndPort } from "./host-name.ts";
export { namePatterns, overlappingName, readNamePattern, type NamePattern } from "./name-pattern.ts";
export {
  firstAndLast,
  type IpAddress,
  type IpRange,
  isInRange,
  isIpv4,
  parseIpAddress,
  parseIpRange,
} from "./ip-address.ts";
export { embeddedAddresses, privateBecause } from "./private-addresses.ts";
export { readRouteHosts } from "./proxy-routes.ts";
export { withoutEnd } from "./without-end.ts";
