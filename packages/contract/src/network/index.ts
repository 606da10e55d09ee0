export { changedFields, type FieldChange, setFields } from "./changed-fields.ts";
export {
  defaultLocation,
  exitTimezone,
  joinLocations,
  readLocation,
  type RequestedLocation,
  shownLocation,
} from "./location.ts";
export {
  type Allowlist,
  changedAllowlist,
  newAllowlist,
  pageOutsideAllowlist,
  type RequestedAllowlist,
} from "./allowlist.ts";
export {
  changedNetworkRules,
  type NetworkRule,
  type NetworkRuleLists,
  readNetworkRule,
  readNetworkRules,
  type RequestedNetworkRules,
} from "./network-rules.ts";
