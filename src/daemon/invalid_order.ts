import { ServiceError } from "../model/service_error.ts";

/** A value that must not be sent to a daemon; nothing was sent. The value itself is neither shown nor logged. */
export class InvalidOrder extends ServiceError {
  readonly code = "ERR_INVALID_ORDER";
  readonly status = 400;
  readonly publicMessage: string;

  /**
   * @param field Member of the `SessionOrder`, such as `file`.
   * @param expected What would have been right; a constant text.
   */
  constructor(readonly field: string, expected: string) {
    super(`${field}: expected ${expected}`);
    this.publicMessage = `Invalid value for ${field}: expected ${expected}`;
  }
}
