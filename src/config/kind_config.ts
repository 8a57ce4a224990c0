/**
 * One configured method of authentication or attribute source, as its kind has read it: plain data. What there is besides
 * is the business of the kind that answers to `kind`, the simple name of a Java class.
 */
export interface KindConfig {
  readonly kind: string;
  /** In the configured order, such as `SSHKEY`. */
  readonly name: string;
}
