/** The target of a share for everybody: the anonymous caller's name, in comparable form. */
export const EVERYBODY = "cn=anonymous,o=unknown,ou=unknown";
