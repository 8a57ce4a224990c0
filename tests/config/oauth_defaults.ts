/** Settings of an OAUTH method with only an address. */
export const OAUTH_DEFAULTS = {
  askAlways: false,
  cacheSeconds: 300,
  derivedLifetime: 28_800,
  requiredAudience: [],
  requiredClient: [],
  acceptAnyAudience: false,
  requiredScope: [],
  capabilities: false,
  certificateBound: false,
  requiredAcr: [],
  emailVerified: false,
  opaqueTokens: true,
  groupsClaim: [],
  groupsMap: [],
  requiredGroups: [],
};
