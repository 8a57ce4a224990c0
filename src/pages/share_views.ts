import type { ShareViews } from "../resource/access/listing.ts";
import { LISTING_PAGE } from "./listing_page.ts";
import { uploadPage } from "./upload_page.ts";
import { previewPage } from "./preview_page.ts";

/** Pages of shares. */
export const SHARE_VIEWS: ShareViews = { listing: LISTING_PAGE, preview: previewPage, upload: uploadPage };
