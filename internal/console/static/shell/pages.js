// The pages, in the order of the bar and of the keys 1, 2, …
//
// A page is a class with a static name, as it stands in the address, and a label. It is made
// once for each room that is joined. view() draws it; update() is called before that, and
// drawn() after; commands() are what it adds to the keys and the palette; hidden() is
// called when another page is shown; stop() when the room is left.
import { ApprovalsPage } from "../approvals/page_approvals.js";
import { HealthPage } from "../health/page_health.js";
import { PeoplePage } from "../people/page_people.js";
import { RoomPage } from "../room/page_room.js";
import { SearchPage } from "../search/page_search.js";

export const pages = [RoomPage, ApprovalsPage, SearchPage, PeoplePage, HealthPage];
