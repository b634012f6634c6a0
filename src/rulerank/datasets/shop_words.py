"""The words of the shop: what it sells, what is said of it, and what people come for. All invented."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """One kind of product: what the shop calls it, and what people may call it instead."""

    name: str
    other: str
    category: str
    price: int  # what one usually costs
    traits: tuple[str, ...]  # what some of them have
    part: str  # an accessory that bears its name
    dated: bool = False  # whether newer ones are better


class Need(NamedTuple):
    """Something people want, in words of their own, and what serves them."""

    query: str
    kind: str
    trait: str
    said: str  # what documents say about it, if anything: not all of its words


KINDS = (
    Kind("tent", "shelter", "camping", 220, ("waterproof", "lightweight", "family", "winter"), "tent peg set"),
    Kind("sleeping bag", "mummy bag", "camping", 130, ("winter", "lightweight", "down", "kids"), "sleeping bag liner"),
    Kind(
        "sleeping mat", "camping mattress", "camping", 70, ("inflatable", "lightweight", "foldable"), "mat repair kit"
    ),
    Kind("camping stove", "gas cooker", "camping", 60, ("compact", "windproof", "lightweight"), "stove cleaning brush"),
    Kind(
        "headlamp", "head torch", "camping", 45, ("rechargeable", "waterproof", "lightweight"), "headlamp strap", True
    ),
    Kind("camping chair", "folding seat", "camping", 50, ("foldable", "lightweight", "kids"), "chair carry bag"),
    Kind(
        "backpack", "rucksack", "hiking", 120, ("waterproof", "lightweight", "women", "compact"), "backpack rain cover"
    ),
    Kind("hiking boots", "walking shoes", "hiking", 150, ("waterproof", "leather", "women", "winter"), "boots wax"),
    Kind("rain jacket", "raincoat", "hiking", 140, ("waterproof", "windproof", "women", "kids"), "jacket wash"),
    Kind("trekking poles", "walking sticks", "hiking", 65, ("foldable", "lightweight", "carbon"), "poles rubber tips"),
    Kind("water bottle", "drinking flask", "hiking", 25, ("insulated", "leakproof", "kids", "steel"), "bottle brush"),
    Kind("fleece pullover", "sweater", "hiking", 80, ("recycled", "women", "kids", "winter"), "fleece repair patch"),
    Kind("bicycle light", "bike lamp", "cycling", 40, ("rechargeable", "waterproof", "compact"), "light bracket", True),
    Kind("bicycle helmet", "bike helmet", "cycling", 75, ("lightweight", "kids", "women"), "helmet padding set"),
    Kind("pannier", "bike bag", "cycling", 85, ("waterproof", "recycled", "foldable"), "pannier hook set"),
    Kind("bicycle pump", "air pump", "cycling", 35, ("compact", "digital", "steel"), "pump hose"),
    Kind("bicycle lock", "chain lock", "cycling", 55, ("foldable", "steel", "digital"), "lock frame holder"),
    Kind("kettle", "water boiler", "kitchen", 50, ("steel", "digital", "compact", "quiet"), "kettle descaler"),
    Kind(
        "coffee maker", "espresso machine", "kitchen", 180, ("digital", "compact", "quiet"), "coffee filter set", True
    ),
    Kind("frying pan", "skillet", "kitchen", 60, ("nonstick", "steel", "induction"), "pan lid"),
    Kind("kitchen knife", "chef's blade", "kitchen", 70, ("steel", "lightweight", "leather"), "knife sharpener"),
    Kind("travel mug", "thermo cup", "kitchen", 28, ("insulated", "leakproof", "steel"), "mug silicone seal"),
    Kind("cutting board", "chopping block", "kitchen", 35, ("wooden", "foldable", "recycled"), "board care oil"),
    Kind("desk lamp", "reading light", "home", 65, ("rechargeable", "wooden", "digital"), "lamp bulb", True),
    Kind("office chair", "swivel chair", "home", 240, ("leather", "quiet", "recycled"), "chair castor set"),
    Kind("blanket", "throw", "home", 60, ("wool", "down", "kids", "recycled"), "blanket storage bag"),
    Kind(
        "alarm clock", "wake-up light", "home", 40, ("quiet", "wooden", "digital", "kids"), "clock power adapter", True
    ),
    Kind("watering can", "plant sprinkler", "garden", 30, ("steel", "compact", "recycled"), "watering can rose"),
    Kind("pruning shears", "secateurs", "garden", 38, ("steel", "leather", "lightweight"), "shears spring"),
    Kind("garden hose", "water pipe", "garden", 55, ("leakproof", "foldable", "compact"), "hose connector"),
)

# trait: how documents say it; the first sentence has the word, the others leave it out
TRAITS = {
    "waterproof": ("Fully waterproof.", "Keeps the rain out all day.", "Taped seams, so that nothing inside gets wet."),
    "lightweight": ("A lightweight design.", "Hardly noticed in the luggage.", "Every gram was looked at twice."),
    "family": ("A family size.", "Room for two adults and two children.", "Four people stand upright in it."),
    "winter": ("Made for winter.", "Warm down to minus fifteen degrees.", "At ease in snow and frost."),
    "down": ("Filled with down.", "Soft feathers from certified farms.", "Light goose feathers keep the heat."),
    "kids": ("Sized for kids.", "For children from six to twelve.", "Small hands manage it alone."),
    "inflatable": ("Inflatable by mouth or pump.", "Fills with air in a minute.", "Ten breaths and it is ready."),
    "foldable": ("Foldable.", "Packs down to the size of a book.", "Collapses with one move of the hand."),
    "compact": ("A compact model.", "Fits into a drawer.", "Takes little space wherever it stands."),
    "windproof": ("Windproof.", "Gusts do not trouble it.", "Stands up to a stiff breeze."),
    "rechargeable": ("Rechargeable.", "The battery is filled over USB.", "No more spare batteries to carry."),
    "women": ("Cut for women.", "A ladies' fit, narrower at the heel and hip.", "Shaped for the female body."),
    "leather": ("Genuine leather.", "Full-grain hide that ages well.", "Tanned with oak bark."),
    "carbon": ("Carbon shafts.", "Woven fibre, stiff and light.", "The stiffest material we have."),
    "insulated": ("Double-wall insulated.", "Drinks stay hot for ten hours.", "Ice is still ice in the evening."),
    "leakproof": ("Leakproof.", "Not a drop gets out.", "Tight, even upside down."),
    "steel": ("Stainless steel.", "Metal that does not rust.", "Brushed metal, lasts for decades."),
    "recycled": ("From recycled material.", "Made of old fishing nets.", "A second life for used bottles."),
    "digital": ("A digital display.", "The screen shows every setting.", "Numbers that can be read from afar."),
    "quiet": ("Very quiet.", "Nobody wakes up from it.", "Makes no more noise than a whisper."),
    "nonstick": ("A nonstick coating.", "Eggs slide right off.", "Needs next to no oil."),
    "induction": ("For induction too.", "Works on every hob.", "Suits gas, ceramic and magnetic cookers."),
    "wooden": ("A wooden body.", "Carved from oak.", "Beech from forests nearby."),
    "wool": ("Pure wool.", "From sheep of the northern islands.", "Merino that does not scratch."),
}

NEEDS = (
    Need("stay dry on a rainy hike", "rain jacket", "waterproof", "On a rainy hike you stay dry."),
    Need("sleep outside when it freezes", "sleeping bag", "winter", "Sleep well outside, whatever the weather."),
    Need("camping with two children", "tent", "family", "Camping with children made easy."),
    Need("read in bed without waking anyone", "desk lamp", "rechargeable", "To read in bed at any hour."),
    Need("see the road at night by bike", "bicycle light", "rechargeable", "See and be seen at night."),
    Need("hot tea for the train", "travel mug", "insulated", "Hot tea on the way to work."),
    Need("cook pancakes that do not burn on", "frying pan", "nonstick", "Pancakes, fish, vegetables: nothing burns."),
    Need("carry my laptop to work in the rain", "backpack", "waterproof", "With a sleeve for the laptop."),
    Need("boil water quickly in a small flat", "kettle", "compact", "Ready to boil a litre quickly."),
    Need("sit all day without back pain", "office chair", "leather", "Kind to your back all day."),
    Need("gift for a friend who loves the mountains", "trekking poles", "carbon", "A gift for mountains and valleys."),
    Need("cut roses in the garden", "pruning shears", "steel", "Roses, vines and twigs up to two fingers."),
    Need("first bike ride of my daughter safe head", "bicycle helmet", "kids", "A safe start on the bike."),
    Need("keep bike from being stolen", "bicycle lock", "steel", "Makes it hard to get anything stolen."),
    Need("warm cover for the sofa", "blanket", "wool", "For the sofa or the bed."),
    Need("shopping by bike", "pannier", "waterproof", "Holds the shopping of a week."),
    Need("ground is too hard to sleep on", "sleeping mat", "inflatable", "Softens the hard ground."),
    Need("make dinner on a windy beach", "camping stove", "windproof", "Dinner for two in ten minutes."),
    Need("flat tyre on tour", "bicycle pump", "compact", "Gets a flat tyre going again on tour."),
    Need("balcony plants holiday", "watering can", "compact", "For balcony and window plants."),
    Need("drink for school that does not spill", "water bottle", "leakproof", "A drink for school, sport and office."),
    Need("wake up early without tick tock", "alarm clock", "quiet", "Wake up gently."),
    Need("walk in snow with warm feet", "hiking boots", "winter", "Warm feet on every walk."),
    Need("coffee at home before anyone is up", "coffee maker", "quiet", "Fresh coffee at home in three minutes."),
    Need("hands free in the dark", "headlamp", "rechargeable", "Keeps both hands free."),
    Need("chop vegetables", "cutting board", "wooden", "For bread, vegetables and herbs."),
    Need("sharp tool for fish and meat", "kitchen knife", "steel", "For meat, fish and hard cheese."),
    Need("something warm under the coat", "fleece pullover", "winter", "Wear it warm under a coat."),
    Need("seat for the beach that fits the car", "camping chair", "foldable", "For beach, lake and garden."),
    Need("water the lawn", "garden hose", "leakproof", "For lawn and beds."),
)

BRANDS = {  # name: how good its products are, how dear
    "Brenvale": (0.5, 1.3),
    "Torvane": (0.2, 1.1),
    "Pinewell": (-0.1, 0.8),
    "Okarimo": (0.7, 1.5),
    "Lumeva": (0.1, 1.0),
    "Wexhaven": (-0.4, 0.7),
    "Fernholt": (0.3, 1.0),
    "Marlstone": (0.0, 0.9),
    "Quillfox": (-0.6, 0.6),
    "Aldermoor": (0.4, 1.4),
    "Sandrel": (-0.2, 1.2),  # dear for what it is
    "Veskari": (0.3, 0.8),  # and the other way round
    "Dunmara": (0.0, 1.0),
    "Tilbrook": (-0.3, 0.9),
}
LINES = (
    *("Kestrel", "Ridge", "Harbour", "Aurora", "Compass", "Meadow", "Granite", "Drift", "Ember", "Juniper", "Summit"),
    *("Tundra", "Willow", "Falcon", "Pebble", "Lantern", "Orchard", "Breeze", "Cedar", "Nomad", "Vista", "Otter"),
)
COLOURS = ("black", "green", "blue", "red", "grey", "sand", "orange", "white")
OPENINGS = (
    "The {line} is a {other} for people who use it every week.",
    "{Brand} has made this {name} for ten years and improved it every time.",
    "A {name} without frills.",
    "Our buyers' favourite {other} of the season.",
    "Simple, sturdy, easy to mend.",
    "If you want one {name} for many years, look here.",
)
FILLERS = (
    "Comes with a warranty of two years.",
    "Spare parts are in stock.",
    "Packed without plastic.",
    "Designed in a small workshop by the sea.",
    "Returned within thirty days it costs nothing.",
    "Customers praise how it is made.",
)
PART_TEXT = "Fits every {name} of {brand} and most others. The {name} itself is not included."
BESIDE = "Goes well with the {line} {name}."  # names what it is not
LACKS = "Not {trait}; see the {line} for that."

# what a word in a query asks for beside the product: less money, better ratings, a newer model
WISHES = {"cheap": "price", "best": "rating", "new": "date", "good": "rating", "latest": "date", "affordable": "price"}
