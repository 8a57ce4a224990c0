/** Error for an untrustworthy response of the provider, for the log. */
export class InvalidResponse extends Error {}
