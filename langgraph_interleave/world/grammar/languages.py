"""Common nouns, colours and small words of other languages for the kinds of the vocabulary, and whose a text is.

A table of the most common things, not a dictionary: what it lacks becomes a labelled card.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Language = Literal["en", "zh", "de", "es", "fr"]

_MARKS: Mapping[Language, re.Pattern[str]] = {
    "zh": re.compile(r"[\u3400-\u9fff]"),
    "de": re.compile(
        r"\b(der|die|das|dem|den|des|ein|eine|einen|einem|einer|eines|und|wie|auf|mit|nicht|ist|sind|im|am|zum|zur|man|"
        r"zwei|drei|vier|fünf|neben|unter|über|zeige|zeichne|schritte|schritten|roter|rote|rotes|ich|kein|keine|bild|"
        r"bilder|bildern|baue|bauen|pflanzt|pflanzen|kocht|kochen)\b"
    ),
    "es": re.compile(
        r"\b(el|la|los|las|un|una|unos|unas|y|cómo|como|sobre|con|sin|es|está|están|en|del|al|de|dos|tres|cuatro|cinco|"
        r"muestra|dibuja|pasos|junto|encima|debajo|hacer|plantar)\b"
    ),
    "fr": re.compile(
        r"\b(le|la|les|un|une|des|et|comment|sur|avec|sans|est|sont|dans|du|au|aux|de|deux|trois|quatre|cinq|sous|"
        r"montre|montrer|dessine|étapes|faire|planter|à|il|elle)\b|\b[ld]'"
    ),
    "en": re.compile(
        r"\b(the|a|an|and|with|of|on|in|how|to|is|are|two|three|four|five|show|draw|steps|pictures|under|over|next|red|"
        r"blue|green|it|make|then|no|without|plant|from|at)\b"
    ),
}  # fmt: skip


def language_of(text: str) -> Language:
    """The language a text is in, of those known here; English when nothing tells.

    Example:
        >>> language_of("Wie pflanzt man eine Bohne?"), language_of("如何种豆子"), language_of("una pelota roja")
        ('de', 'zh', 'es')
    """
    lower = text.casefold().replace("’", "'")
    if len(_MARKS["zh"].findall(lower)) >= 2:
        return "zh"
    scores = {language: len(_MARKS[language].findall(lower)) for language in ("en", "de", "es", "fr")}
    best = max(scores.values())
    order: tuple[Language, ...] = ("en", "de", "fr", "es")
    return next(language for language in order if scores[language] == best)


def name_of(language: str | None) -> Language | None:
    """The language a code or a name means, of those known here; `None` for any other.

    Example:
        >>> name_of("de-AT"), name_of("Chinese"), name_of("tlh")
        ('de', 'zh', None)
    """
    if not language:
        return None
    first = re.split(r"[-_ (]", language.strip().casefold())[0]
    return _NAMES.get(first)


_NAMES: Mapping[str, Language] = {
    "en": "en", "eng": "en", "english": "en", "englisch": "en", "zh": "zh", "chinese": "zh", "mandarin": "zh",
    "中文": "zh", "汉语": "zh", "simplified": "zh", "de": "de", "ger": "de", "deu": "de", "german": "de",
    "deutsch": "de", "es": "es", "spa": "es", "spanish": "es", "español": "es", "fr": "fr", "fra": "fr", "fre": "fr",
    "french": "fr", "français": "fr", "anglais": "en", "inglés": "en", "allemand": "de", "chinesisch": "zh",
    "英语": "en", "英文": "en", "德语": "de", "德文": "de",
}  # fmt: skip

#: Kind → its names: Chinese, German, Spanish, French; several with `/`; de/es/fr with their plurals.
NOUNS: Mapping[str, tuple[str, str, str, str]] = {
    "flower pot": ("花盆", "blumentopf/blumentöpfe/topf", "maceta/macetas", "pot de fleurs/pots de fleurs"),
    "seed": ("种子/豆子/豆", "bohne/bohnen/samen", "semilla/semillas/frijol", "graine/graines/haricot"),
    "sprout": ("芽/幼苗/嫩芽", "keimling/spross/setzling", "brote/brotes", "pousse/pousses"),
    "plant": ("植物", "pflanze/pflanzen", "planta/plantas", "plante/plantes"),
    "flower": ("花/花朵/鲜花", "blume/blumen/blüte", "flor/flores", "fleur/fleurs"),
    "leaf": ("叶子/树叶", "blatt/blätter", "hoja/hojas", "feuille/feuilles"),
    "tree": ("树", "baum/bäume", "árbol/árboles", "arbre/arbres"),
    "pine tree": ("松树/圣诞树", "tanne/tannen/tannenbaum", "pino/pinos", "sapin/sapins"),
    "cactus": ("仙人掌", "kaktus/kakteen", "cacto", "cactées"),
    "mushroom": ("蘑菇", "pilz/pilze", "seta/setas/champiñón", "champignon/champignons"),
    "sun": ("太阳", "sonne", "sol", "soleil"),
    "moon": ("月亮/月球", "mond", "luna", "lune"),
    "cloud": ("云/云朵", "wolke/wolken", "nube/nubes", "nuage/nuages"),
    "star": ("星星/星", "stern/sterne", "estrella/estrellas", "étoile/étoiles"),
    "rainbow": ("彩虹", "regenbogen", "arcoíris", "arc-en-ciel"),
    "cat": ("猫/小猫", "katze/katzen/kätzchen", "gato/gatos/gata", "chat/chats/chaton"),
    "dog": ("狗/小狗", "hund/hunde/hündchen", "perro/perros", "chien/chiens"),
    "bird": ("鸟/小鸟", "vogel/vögel", "pájaro/pájaros", "oiseau/oiseaux"),
    "fish": ("鱼", "fisch/fische", "pez/peces", "poisson/poissons"),
    "butterfly": ("蝴蝶", "schmetterling/schmetterlinge", "mariposa/mariposas", "papillon/papillons"),
    "caterpillar": ("毛毛虫", "raupe/raupen", "oruga/orugas", "chenille/chenilles"),
    "bee": ("蜜蜂", "biene/bienen", "abeja/abejas", "abeille/abeilles"),
    "rabbit": ("兔子", "hase/hasen/kaninchen", "conejo/conejos", "lapin/lapins"),
    "mouse": ("老鼠", "maus/mäuse", "ratón/ratones", "souris"),
    "horse": ("马", "pferd/pferde", "caballo/caballos", "cheval/chevaux"),
    "cow": ("牛/奶牛", "kuh/kühe", "vaca/vacas", "vache/vaches"),
    "pig": ("猪", "schwein/schweine", "cerdo/cerdos", "cochon/cochons"),
    "sheep": ("羊/绵羊", "schaf/schafe", "oveja/ovejas", "mouton/moutons"),
    "hen": ("母鸡/鸡", "huhn/hühner/henne", "gallina/gallinas", "poule/poules"),
    "duck": ("鸭子", "ente/enten", "pato/patos", "canard/canards"),
    "frog": ("青蛙", "frosch/frösche", "rana/ranas", "grenouille/grenouilles"),
    "elephant": ("大象", "elefant/elefanten", "elefante/elefantes", "éléphant/éléphants"),
    "person": ("人", "mensch/menschen/mann/frau", "persona/hombre/mujer", "personne/homme/femme"),
    "child": ("孩子/小孩/男孩/女孩", "kind/kinder/junge/mädchen", "niño/niña/niños", "enfant/enfants/garçon/fille"),
    "house": ("房子/屋子", "haus/häuser", "casa/casas", "maison/maisons"),
    "castle": ("城堡", "schloss/burg", "castillo/castillos", "château/châteaux"),
    "tent": ("帐篷", "zelt/zelte", "tienda de campaña", "tente/tentes"),
    "bridge": ("桥", "brücke/brücken", "puente/puentes", "pont/ponts"),
    "mountain": ("山", "berg/berge", "montaña/montañas", "montagne/montagnes"),
    "snowman": ("雪人", "schneemann/schneemänner", "muñeco de nieve", "bonhomme de neige"),
    "traffic light": ("红绿灯/交通灯", "ampel/ampeln", "semáforo/semáforos", "feu tricolore"),
    "car": ("汽车/车/小汽车", "auto/autos", "coche/coches", "voiture/voitures"),
    "bus": ("公共汽车/公交车", "busse", "autobús", "autobus"),
    "train": ("火车", "zug/züge", "tren/trenes", "trains"),
    "bicycle": ("自行车", "fahrrad/fahrräder", "bicicleta/bicicletas", "vélo/vélos"),
    "boat": ("船/小船", "boot/boote/schiff", "barco/barcos", "bateau/bateaux"),
    "airplane": ("飞机", "flugzeug/flugzeuge", "avión/aviones", "avion/avions"),
    "rocket": ("火箭", "rakete/raketen", "cohete/cohetes", "fusée/fusées"),
    "cup": ("杯子/茶杯", "tasse/tassen", "taza/tazas", "tasses"),
    "tea bag": ("茶包", "teebeutel", "bolsita de té", "sachet de thé"),
    "kettle": ("水壶/烧水壶", "wasserkocher/kessel", "hervidor", "bouilloire"),
    "glass": ("玻璃杯", "glas/gläser", "vaso/vasos", "verre/verres"),
    "bottle": ("瓶子", "flasche/flaschen", "botella/botellas", "bouteille/bouteilles"),
    "plate": ("盘子", "teller", "plato/platos", "assiette/assiettes"),
    "bowl": ("碗", "schüssel/schüsseln", "cuenco/cuencos", "bol/bols"),
    "spoon": ("勺子", "löffel", "cuchara/cucharas", "cuillère/cuillères"),
    "knife": ("刀", "messer", "cuchillo/cuchillos", "couteau/couteaux"),
    "egg": ("鸡蛋/蛋", "ei/eier", "huevo/huevos", "œuf/œufs/oeuf/oeufs"),
    "bread": ("面包", "brot/brote", "pan", "pain/pains"),
    "cake": ("蛋糕", "kuchen/torte", "pastel/tarta", "gâteau/gâteaux"),
    "apple": ("苹果", "apfel/äpfel", "manzana/manzanas", "pomme/pommes"),
    "pear": ("梨", "birne/birnen", "pera/peras", "poire/poires"),
    "banana": ("香蕉", "banane/bananen", "plátano/plátanos", "bananes"),
    "lemon": ("柠檬", "zitrone/zitronen", "limón/limones", "citron/citrons"),
    "strawberry": ("草莓", "erdbeere/erdbeeren", "fresa/fresas", "fraise/fraises"),
    "carrot": ("胡萝卜", "karotte/karotten/möhre", "zanahoria/zanahorias", "carotte/carottes"),
    "book": ("书", "buch/bücher", "libro/libros", "livre/livres"),
    "pencil": ("铅笔/笔", "bleistift/stift/stifte", "lápiz/lápices", "crayon/crayons"),
    "paper plane": ("纸飞机", "papierflieger", "avión de papel", "avion en papier"),
    "envelope": ("信封/信", "briefumschlag/brief/briefe", "sobre", "enveloppe/enveloppes"),
    "chair": ("椅子", "stuhl/stühle", "silla/sillas", "chaise/chaises"),
    "table": ("桌子", "tisch/tische", "mesa/mesas", "tables"),
    "bed": ("床", "bett/betten", "cama/camas", "lit/lits"),
    "door": ("门", "tür/türen", "puerta/puertas", "porte/portes"),
    "window": ("窗户/窗", "fenster", "ventana/ventanas", "fenêtre/fenêtres"),
    "lamp": ("灯/台灯", "lampe/lampen", "lámpara/lámparas", "lampes"),
    "candle": ("蜡烛", "kerze/kerzen", "vela/velas", "bougie/bougies"),
    "clock": ("钟/时钟", "uhr/uhren", "reloj/relojes", "horloge/horloges"),
    "key": ("钥匙", "schlüssel", "llave/llaves", "clé/clés"),
    "gift": ("礼物", "geschenk/geschenke", "regalo/regalos", "cadeau/cadeaux"),
    "box": ("盒子/箱子", "kiste/kisten/schachtel", "caja/cajas", "boîte/boîtes"),
    "basket": ("篮子", "korb/körbe", "cesta/cestas", "panier/paniers"),
    "umbrella": ("伞/雨伞", "regenschirm/schirm", "paraguas", "parapluie/parapluies"),
    "suitcase": ("行李箱", "koffer", "maleta/maletas", "valise/valises"),
    "toothbrush": ("牙刷", "zahnbürste/zahnbürsten", "cepillo de dientes", "brosse à dents"),
    "light bulb": ("灯泡", "glühbirne/glühbirnen", "bombilla/bombillas", "ampoule/ampoules"),
    "battery": ("电池", "batterie/batterien", "pila/pilas", "piles"),
    "ball": ("球/皮球", "ball/bälle", "pelota/pelotas", "balle/balles/ballon"),
    "balloon": ("气球", "luftballon/luftballons", "globo/globos", "ballon de baudruche"),
    "kite": ("风筝", "drachen", "cometa/cometas", "cerf-volant"),
    "cube": ("方块/积木", "würfel", "cubo/cubos", "cubes"),
    "triangle": ("三角形", "dreieck/dreiecke", "triángulo/triángulos", "triangles"),
    "circle": ("圆/圆形/圆圈", "kreis/kreise", "círculo/círculos", "cercle/cercles"),
    "square": ("正方形", "quadrat/quadrate", "cuadrado/cuadrados", "carré/carrés"),
    "hat": ("帽子", "hut/hüte", "sombrero/sombreros", "chapeau/chapeaux"),
    "shoe": ("鞋/鞋子", "schuh/schuhe", "zapato/zapatos", "chaussure/chaussures"),
    "robot": ("机器人", "roboter", "robots de juguete", "robots"),
    "watering can": ("浇水壶/洒水壶", "gießkanne", "regadera", "arrosoir"),
}  # fmt: skip

#: Colour → its names, as in `NOUNS`; German, Spanish and French endings are derived.
COLORS: Mapping[str, tuple[str, str, str, str]] = {
    "red": ("红/红色", "rot", "rojo", "rouge"), "orange": ("橙色/橙", "orange", "naranja", "orange"),
    "yellow": ("黄/黄色", "gelb", "amarillo", "jaune"), "green": ("绿/绿色", "grün", "verde", "vert"),
    "turquoise": ("青色", "türkis", "turquesa", "turquoise"), "blue": ("蓝/蓝色", "blau", "azul", "bleu"),
    "purple": ("紫/紫色", "lila/violett", "morado", "violet"), "pink": ("粉红色/粉色", "rosa", "rosado", "rose"),
    "brown": ("棕色/褐色", "braun", "marrón", "brun/marron"), "black": ("黑/黑色", "schwarz", "negro", "noir"),
    "grey": ("灰/灰色", "grau", "gris", "gris"), "white": ("白/白色", "weiß/weiss", "blanco", "blanc/blanche"),
}  # fmt: skip

#: Role → words; columns as in `NOUNS`.
SMALL: Mapping[str, tuple[str, str, str, str]] = {
    "size small": ("小", "klein", "pequeño", "petit"), "size large": ("大", "groß", "grande", "grand"),
    "definite": ("这个/那个/这/那", "der/die/das/dem/den/des", "el/la/los/las", "le/la/les/l'"),
    "indefinite": ("", "ein/eine/einen/einem/einer/eines/noch ein", "un/una/unos/unas/otro/otra", "un/une/des/du"),
    "conj": ("和/与/还有/跟/以及", "und/sowie", "y/e", "et"),
    "neg": ("没有/不要/无", "kein/keine/keinen/ohne/nicht", "sin/ningún/ninguna/no", "sans/aucun/aucune/pas de"),
    "with": ("", "mit", "con", "avec"),
    "on": ("上面/上/顶上", "auf/auf dem/auf der", "sobre/encima de/encima del", "sur"),
    "in": ("里面/里/中/内", "in/im/in der/in dem", "en/dentro de/dentro del", "dans"),
    "above": ("上方", "über/oberhalb von", "por encima de", "au-dessus de/au-dessus du"),
    "below": ("下面/下/下方", "unter/unterhalb von/unterm", "debajo de/debajo del/bajo", "sous/au-dessous de"),
    "left of": ("左边/左侧", "links von/links neben", "a la izquierda de/a la izquierda del",
                "à gauche de/à gauche du"),
    "right of": ("右边/右侧/旁边", "rechts von/neben/rechts neben/bei",
                 "a la derecha de/junto a/al lado de/al lado del", "à droite de/à droite du/à côté de/à côté du"),
    "in front of": ("前面/前", "vor/vor dem/vor der", "delante de/delante del", "devant"),
    "behind": ("后面/后", "hinter/hinter dem", "detrás de/detrás del", "derrière"),
    "filler": (
        "的/一下/请/画/显示/展示/是/有/着/了/正/正在/图/图片/幅/只有",
        "ist/sind/steht/liegt/sitzt/zeige/zeichne/bitte/es/gibt/man/stehen/liegen/bild/bild von/foto von/von/vom/zum",
        "es/está/están/hay/muestra/dibuja/por favor/de/del/a/al/que/imagen de/dibujo de",
        "est/sont/il/y/a/montre/dessine/de/d'/s'il/te/plaît/qui/que/au/aux/image de/dessin de",
    ),
}  # fmt: skip

#: Backdrop → words; columns as in `NOUNS`.
BACKDROPS: Mapping[str, tuple[str, str, str, str]] = {
    "beach": ("海滩/沙滩", "strand", "playa", "plage"),
    "forest": ("森林", "wald", "bosque", "forêt"),
    "meadow": ("草地/田野", "wiese/feld", "prado/campo", "pré/prairie"),
    "garden": ("花园/院子", "garten", "jardín", "jardin"),
    "sea": ("大海/海/河/湖", "meer/see/fluss", "mar/río", "mer/lac"),
    "kitchen": ("厨房", "küche", "cocina", "cuisine"),
    "street": ("街/街道/马路/路", "straße/stadt", "calle/ciudad", "rue/ville"),
    "night": ("夜晚/晚上/夜里", "nacht/nachts", "noche", "nuit"),
    "snow": ("雪地/雪", "schnee/winter", "nieve/invierno", "neige/hiver"),
    "sky": ("天空/天", "himmel", "cielo", "ciel"),
    "space": ("太空/宇宙", "weltraum/weltall", "espacio", "espace"),
    "room": ("房间/室内", "zimmer", "habitación", "chambre"),
    "bathroom": ("浴室", "badezimmer/bad", "baño", "salle de bain"),
}  # fmt: skip

#: English command → words of other languages; columns as in `NOUNS`.
COMMANDS: Mapping[str, tuple[str, str, str, str]] = {
    "open": ("打开", "öffne/öffnet", "abre", "ouvre"),
    "close": ("关上/盖上/合上", "schließe/schließ", "cierra", "ferme"),
    "light": ("点燃/点亮/点", "zünde", "enciende", "allume"), "turn off": ("关掉/熄灭", "lösche", "apaga", "éteins"),
    "remove": ("拿走/去掉/移除/删除", "entferne/nimm", "quita", "enlève/retire"),
    "put": ("放上/放入/放进/放", "lege/leg/stelle/stell/setze", "pon/coloca", "mets/pose"),
    "add": ("加上/加入/添加/再加/加", "füge/gib", "añade/agrega", "ajoute"),
    "make": ("把/让", "mache/mach", "haz", "rends"),
    "fill": ("装满/倒满/填满", "fülle/füll", "llena", "remplis"), "cut": ("切开/切", "schneide", "corta", "coupe"),
    "pour": ("倒", "gieße", "vierte", "verse"), "fold": ("对折/折", "falte", "dobla", "plie"),
    "wait": ("等待/等", "warte", "espera", "attends"), "water": ("浇水", "begieße", "riega", "arrose"),
}  # fmt: skip

COLUMN: Mapping[Language, int] = {"zh": 0, "de": 1, "es": 2, "fr": 3}


def names(row: tuple[str, str, str, str], language: Language) -> list[str]:
    """The words of one row in one language."""
    return [word for word in row[COLUMN[language]].split("/") if word]


def with_english_commands(text: str, language: Language) -> str:
    """The text with the commands it begins its sentences with in English; the rest as it is.

    Example:
        >>> with_english_commands("打开盒子", "zh")
        'open 盒子'
    """
    if language == "en":
        return text
    for command, row in COMMANDS.items():
        for word in names(row, language):
            lead = r"(^|[，。；,.;]\s*|然后|再|最后)" if language == "zh" else r"(^|[,.;]\s*|\bund\s+|\by\s+|\bet\s+)"
            tail = "" if language == "zh" else r"\b"
            text = re.sub(lead + re.escape(word) + tail, rf"\g<1>{command} ", text, flags=re.IGNORECASE)
    return text


def color_forms(word: str, language: Language) -> list[str]:
    """A colour or size word with the endings its language gives it.

    Example:
        >>> color_forms("rojo", "es")
        ['rojo', 'rojos', 'roja', 'rojas']
    """
    if language == "de":
        return [word, *(word + ending for ending in ("e", "er", "es", "en", "em", "farben"))]
    if language == "es":
        feminine = [word[:-1] + "a", word[:-1] + "as"] if word.endswith("o") else []
        return [word, word + ("s" if word[-1] in "aeio" else "es"), *feminine]
    if language == "fr":
        feminine = [] if word.endswith("e") else [word + "e", word + "es"]
        return [word, word + "s", *feminine]
    return [word]
