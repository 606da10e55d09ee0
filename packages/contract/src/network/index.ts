export {
  changedNetworkRules,
  type NetworkRule,
  type NetworkRuleLists,
  readNetworkRule,
  readNetworkRules,
  type RequestedNetworkRules,
} from "./network-rules.ts";
